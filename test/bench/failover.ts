import { join } from 'node:path';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { acceptedPodPatches, firstTakeOver, tiltedPolicy, untilEvicted } from '../support/audited-replicas.ts';
import { accountLikeTheOperators, install, type OperatorProcess, startOperator } from '../support/operator-process.ts';
import { printTable } from '../support/print-table.ts';

/**
 * How long a cluster is without a leader when the leader ends in one way or another, and how long a pod at our gate waits when no move
 * wants it: by the audit log of a real control plane. Run with `npm run bench:failover`. Nothing is asserted: the table is for
 * people. Give it a machine of its own.
 */
const SHORT = ['--lease-duration', '4s'];

/** How each leader ends, what lease it has, and how the one that follows is started. */
const ENDS = [
  { how: 'kill -9', lease: '4 s', signal: 'SIGKILL', next: SHORT },
  { how: 'SIGSTOP', lease: '4 s', signal: 'SIGSTOP', next: [] },
  { how: 'SIGTERM', lease: '15 s (default)', signal: 'SIGTERM', next: [] },
  { how: 'kill -9', lease: '15 s (default)', signal: 'SIGKILL', next: [] },
] as const;

/** Pods that are made at once while no move waits for any. */
const GATED = 2;

const log = (line: string): void => void process.stderr.write(`${line}\n`);

async function play(scenario: string, work: (cp: ControlPlane, running: OperatorProcess[]) => Promise<void>) {
  const cp = await startControlPlane({ metricsServer: false, log });
  const running: OperatorProcess[] = [];
  try {
    await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', `${scenario}.yaml`)), { log });
    await work(cp, running);
  } finally {
    await Promise.all(running.map((operator) => operator.end('SIGKILL')));
    await cp.stop();
  }
}

/** One plan under five leaders, each of which has an account of its own. */
async function failOvers(cp: ControlPlane, running: OperatorProcess[]): Promise<void> {
  await install(cp, 'default');
  const accounts = ['replica-0', ...ENDS.map((_, index) => `replica-${index + 1}`)];
  await cp.apply(accounts.flatMap(accountLikeTheOperators));
  const start = async (index: number, args: readonly string[]): Promise<OperatorProcess> => {
    const options = { account: `replica-${index}`, args: [...args, '--metrics-insecure'] };
    const operator = await startOperator(cp, options);
    running.push(operator);
    return operator;
  };
  let leader = await start(0, SHORT);
  await leader.logged('leading');
  await cp.apply([tiltedPolicy(3)]);
  await untilEvicted(cp, 'replica-0', leader, 3);
  for (const [index, { how, lease, signal, next }] of ENDS.entries()) {
    const follower = await start(index + 1, next);
    await follower.logged('another replica leads');
    const ended = Date.now();
    leader.signal(signal);
    await untilEvicted(cp, `replica-${index + 1}`, follower, 1);
    const took = firstTakeOver(await cp.audit(), `replica-${index + 1}`);
    rows.push([how, lease, since(ended, took.lease.at), since(ended, took.intent.at)]);
    leader = follower;
  }
}

/** Pods at our gate that no move waits for. */
async function gateOpenings(cp: ControlPlane, running: OperatorProcess[]): Promise<void> {
  await install(cp, 'gate');
  await cp.kubectl(['label', 'namespace', 'shop', 'evenkeel.dev/gate=enabled']);
  const operator = await startOperator(cp, { args: ['--metrics-insecure'] });
  running.push(operator);
  await operator.logged('leading');
  const scaled = Date.now();
  await cp.kubectl(['scale', '-n', 'shop', 'deployment/app-01', `--replicas=${2 + GATED}`]);
  await waitUntil(
    'the gates are opened',
    async () => {
      const { length } = acceptedPodPatches(await cp.audit());
      return length < GATED ? `${length} are` : undefined;
    },
    { timeoutMilliseconds: 60_000, log },
  );
  const last = acceptedPodPatches(await cp.audit()).at(-1);
  rows.push(['scale-up at the gate', '', '', since(scaled, last?.at ?? '')]);
}

function since(instant: number, text: string): string {
  return `${((Date.parse(text) - instant) / 1000).toFixed(2)} s`;
}

const rows: string[][] = [];
await play('tilted', failOvers);
await play('gated', gateOpenings);
printTable(['what happens', 'lease', 'lease taken after', 'first intent, or gate opened, after'], rows);
