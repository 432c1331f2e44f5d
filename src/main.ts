#!/usr/bin/env node
import nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

const OLDEST = [22, 19] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  process.stderr.write(
    `evenkeel needs Node ${OLDEST.join('.')} or later, but this is ${process.version} (${process.execPath}): install a newer Node, or run it with npm exec in its checkout\n`,
  );
  process.exitCode = 1;
} else {
  keepCompiledCode();
  const { main } = await import('./cli.ts');
  process.exitCode = await main(process.argv.slice(2));
}

/**
 * Lets V8 keep what it has compiled in a folder of the user's own, where others cannot put code; without such a folder the next
 * start compiles again. The operator starts once, on a file system that it may not write to.
 */
function keepCompiledCode(): void {
  const { XDG_CACHE_HOME: cache } = process.env;
  if (process.argv[2] !== 'operator') {
    nodeModule.enableCompileCache(
      join(cache === undefined || cache === '' ? join(homedir(), '.cache') : cache, 'evenkeel'),
    );
  }
}
