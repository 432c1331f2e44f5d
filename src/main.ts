#!/usr/bin/env node
const OLDEST = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `evenkeel needs Node ${OLDEST.join('.')} or later, but this is ${process.version} (${process.execPath}): install a newer Node, or run it with npm exec in its checkout\n`,
  );
  process.exitCode = 1;
} else {
  const { main } = await import('./cli.ts');
  process.exitCode = await main(process.argv.slice(2));
}
