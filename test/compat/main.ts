/**
 * `npm run compat [-- --kubernetes 1.33,1.34 --minutes N --verdicts N --checks GROUP,...]`: what works on which version of
 * Kubernetes, on real control planes. Progress goes to stderr, a table to stdout; the exit code is 1 when something does not.
 */
import type { KubernetesVersion } from '../control-plane/kubernetes-versions.ts';
import type { CheckContext, CheckGroup } from './check.ts';
import { EVICTIONS } from './evictions.ts';
import { INSTALLS } from './installs.ts';
import { type CompatOptions, parseOptions } from './options.ts';
import { PARITY_GROUP } from './parity.ts';
import { RUNNING } from './running.ts';
import { STEERING } from './steering.ts';
import { tableOf, type Verdict, type Verdicts } from './verdict.ts';

const GROUPS: readonly CheckGroup[] = [INSTALLS, RUNNING, STEERING, EVICTIONS, PARITY_GROUP];

async function checkVersion(kubernetes: KubernetesVersion, options: CompatOptions): Promise<Verdicts> {
  const { minutes, verdicts } = options;
  const found = new Map<string, Verdict>();
  const log = (line: string): void => void process.stderr.write(`${kubernetes}: ${line}\n`);
  const decide = (check: string, verdict: Verdict): void => {
    found.set(check, verdict);
    log(`${check}: ${JSON.stringify(verdict)}`);
  };
  for (const group of GROUPS.filter(({ name }) => options.groups.includes(name))) {
    await runGroup(group, { kubernetes, minutes, verdicts, log, decide }, found);
  }
  return found;
}

/** A group that breaks off fails what it has not decided; the others go on. */
async function runGroup(group: CheckGroup, context: CheckContext, found: Verdicts): Promise<void> {
  try {
    await group.run(context);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    for (const check of group.checks.filter((name) => !found.has(name))) {
      context.decide(check, { kind: 'No', why });
    }
  }
}

async function main(): Promise<boolean> {
  const options = parseOptions(
    process.argv.slice(2),
    GROUPS.map(({ name }) => name),
  );
  const byVersion = new Map<string, Verdicts>();
  for (const version of options.versions) {
    byVersion.set(version, await checkVersion(version, options));
  }
  const checks = GROUPS.filter(({ name }) => options.groups.includes(name)).flatMap((group) => group.checks);
  process.stdout.write(`${tableOf(checks, byVersion)}\n`);
  return [...byVersion.values()].every((verdicts) => [...verdicts.values()].every(({ kind }) => kind !== 'No'));
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
