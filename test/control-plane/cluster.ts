/**
 * `npm run cluster [-- [--kubernetes VERSION] SCENARIO]`: a control plane to try things on, with the nodes and workloads of
 * a scenario (a name such as `demo` out of test/scenarios, or a path). Writes `export KUBECONFIG=...` to stdout once the cluster is
 * set up and everything else to stderr; stays until Ctrl-C and leaves nothing behind.
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFAULT_VERSION, kubernetesVersion } from './kubernetes-versions.ts';
import { nodeLoads, standardDeviation } from './node-loads.ts';
import { applyScenario, loadScenario, waitForMetrics } from './scenario.ts';
import type { Scenario } from './scenario-parse.ts';
import { type ControlPlane, startControlPlane } from './start.ts';

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

function scenarioPath(nameOrPath: string): string {
  const named = join(import.meta.dirname, '..', 'scenarios', `${nameOrPath}.yaml`);
  const path = [nameOrPath, named].find((candidate) => existsSync(candidate));
  if (path === undefined) {
    throw new Error(`there is no scenario ${nameOrPath}: give a file, or a name out of test/scenarios such as demo`);
  }
  return path;
}

async function reportLoads(cp: ControlPlane): Promise<void> {
  await waitForMetrics(cp, { log });
  const loads = await nodeLoads(cp);
  for (const [node, load] of loads) {
    log(`${node}  ${(100 * load).toFixed(1).padStart(5)} % CPU`);
  }
  log(`standard deviation of the load: ${standardDeviation([...loads.values()]).toFixed(4)}`);
}

/** Sets the scenario up, says how to use the cluster, and waits for ever. */
async function serve(cp: ControlPlane, scenario: Scenario | undefined): Promise<never> {
  log(`the control plane of Kubernetes ${cp.kubernetes} runs at ${cp.url}`);
  if (scenario !== undefined) {
    await applyScenario(cp, scenario, { log });
  }
  process.stdout.write(`export KUBECONFIG=${cp.kubeconfig}\n`);
  log(`kubectl, if you have none: export PATH=${dirname(cp.bin('kubectl'))}:$PATH`);
  log('Ctrl-C ends the cluster');
  if (scenario !== undefined) {
    await reportLoads(cp);
  }
  return new Promise<never>(() => setInterval(() => undefined, 1_000_000)); // a timer, or the process would end
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

async function main(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { kubernetes: { type: 'string', default: DEFAULT_VERSION } },
    allowPositionals: true,
  });
  const kubernetes = kubernetesVersion(values.kubernetes);
  const [nameOrPath] = positionals;
  const scenario = nameOrPath === undefined ? undefined : loadScenario(scenarioPath(nameOrPath));
  const cp = await startControlPlane({ kubernetes, log });
  try {
    await Promise.race([interrupted(), serve(cp, scenario)]);
  } finally {
    await cp.stop();
    log('the cluster has ended');
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  log(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
process.exit(); // serve() may still be waiting for something
