import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LedgerMode, ServiceLedger } from '../../src/model/service-level.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import { timesAt, totalOf } from '../../src/qos/times.ts';
import { listPods, type PodState } from '../control-plane/cluster-state.ts';
import { applyScenario, loadScenario } from '../control-plane/scenario.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { install } from '../support/operator-process.ts';
import { createRandom, type Random } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { startKubelet, stopKubelet } from './disturb.ts';
import { type Operators, startOperators } from './operators.ts';
import { contestSpec, NAMESPACE, requestObject, serviceClassObject } from './requests.ts';

/** What a campaign is to do. */
export interface LedgersOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface LedgersReport {
  readonly minutes: number;
  readonly kills: number;
  readonly deletions: number;
  readonly ledgers: number;
  /** Looks at all ledgers. */
  readonly looks: number;
  /** Seconds by which e + d + p of a request differs from wall time x instances, at most, whenever they were looked at. */
  readonly largestGap: number;
  /** Requests whose sum differs by more than a second for each restart of the operator that was. */
  readonly gaps: readonly string[];
  /** Counters that were lower than before. */
  readonly backwards: readonly string[];
  /** Requests without a ledger in the end. */
  readonly missing: readonly string[];
  /** Logs of operators that ended by themselves. */
  readonly crashes: readonly string[];
}

/** 52 pods, of which the four nodes hold 40, and 30 while one of them is lost. */
const REQUESTS: readonly { readonly mode: LedgerMode; readonly slo: string; readonly replicas: readonly number[] }[] = [
  { mode: 'Aggregated', slo: '0.9', replicas: [1, 1, 2, 3, 4] },
  { mode: 'Independent', slo: '0.5', replicas: [1, 2, 3, 4, 5] },
  { mode: 'Concurrent', slo: '0.5', replicas: [1, 2, 2, 3] },
  { mode: 'Task', slo: '0.3', replicas: [1, 1, 2, 4, 6] },
];
/** Seconds. */
const BETWEEN_KILLS = 20;
const BETWEEN_LOOKS = 2;
const LEASE = ['--lease-duration', '4s'];
const LOST = 'node-4';
/** Shares of the campaign after which a node is lost, and is back. */
const LOST_AFTER = 0.2;
const BACK_AFTER = 0.8;

/**
 * Ledgers under fire: the operator is killed every 20 s on average, pods are deleted by force, a node is lost for more than half
 * of the time, and QoSDriven preempts all the while. At every look the seconds of each request must add up.
 */
export async function runLedgersCampaign({ minutes, seed, log }: LedgersOptions): Promise<LedgersReport> {
  const random = createRandom(seed);
  const cp = await startControlPlane({ metricsServer: false, log });
  let operators: Operators | undefined;
  try {
    await install(cp, 'gate');
    await applyScenario(cp, loadScenario(join(import.meta.dirname, '..', 'scenarios', 'qos.yaml')), { log });
    const admitted = await admissions(cp, await submit(cp));
    operators = await startOperators(cp, 1, { args: LEASE });
    const fire = createFire(cp, operators, random);
    const books = createBooks(admitted);
    await waitUntil('all ledgers', async () => books.missing(await look(cp)), { timeoutMilliseconds: 60_000, log });
    const began = performance.now();
    for (let share = 0; share < 1; share = (performance.now() - began) / (minutes * 60_000)) {
      const pause = sleep(BETWEEN_LOOKS * 1000);
      await fire.next(share);
      const ledgers = await look(cp);
      books.check(ledgers, fire.kills());
      if (books.looks() % 10 === 0) {
        log(`${(100 * share).toFixed(0)} %: ${fire.kills()} kills, largest gap ${books.largestGap().toFixed(2)} s`);
      }
      await pause;
    }
    const missing = books.missing(await look(cp));
    return {
      minutes,
      kills: fire.kills(),
      deletions: fire.deletions(),
      ledgers: admitted.size,
      looks: books.looks(),
      largestGap: books.largestGap(),
      gaps: books.gaps(),
      backwards: books.backwards(),
      missing: missing === undefined ? [] : [missing],
      crashes: operators.ends.map((end) => `exit code ${end.code}:\n${end.log}`),
    };
  } finally {
    await operators?.stop();
    await cp.stop();
  }
}

/** Resolves to the number of instances by the name of the request. */
async function submit(cp: ControlPlane): Promise<ReadonlyMap<string, number>> {
  const classes = REQUESTS.map(({ mode, slo }, place) =>
    serviceClassObject(mode.toLowerCase(), { mode, slo, importance: place + 1, window: '10m', expectedStartup: '3s' }),
  );
  const policy = policyObject('contest', contestSpec('Standard'));
  await cp.apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }, ...classes, policy]);
  const all = REQUESTS.flatMap(({ mode, replicas }) =>
    replicas.map((count, index) => ({ app: `${mode.toLowerCase()}-${index}`, replicas: count, mode })),
  );
  await cp.apply(
    all.map(({ mode, ...request }) => requestObject({ ...request, promise: { serviceClass: mode.toLowerCase() } })),
  );
  return new Map(all.map(({ app, replicas }) => [app, replicas]));
}

/** When the first pods of each request were made, in seconds, one of each of its instances. */
async function admissions(
  cp: ControlPlane,
  requests: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const total = [...requests.values()].reduce((sum, count) => sum + count, 0);
  let pods: readonly PodState[] = [];
  await waitUntil(
    'the first pods',
    async () => {
      pods = (await listPods(cp)).filter(({ metadata }) => metadata.namespace === NAMESPACE);
      return pods.length === total ? undefined : `${pods.length} of ${total}`;
    },
    { timeoutMilliseconds: 60_000 },
  );
  const created = Map.groupBy(pods, ({ metadata }) => metadata.labels?.['app'] ?? '');
  return new Map(
    [...created].map(([app, own]) => [app, own.map(({ metadata }) => Date.parse(metadata.creationTimestamp) / 1000)]),
  );
}

interface Ledgers {
  readonly now: number;
  readonly byName: ReadonlyMap<string, { readonly ledger: ServiceLedger; readonly mode: LedgerMode }>;
}

async function look(cp: ControlPlane): Promise<Ledgers> {
  const text = await cp.kubectl(['get', 'serviceclasses,qosledgers', '-A', '-o', 'json']);
  const now = Date.now() / 1000;
  const { classes, ledgers } = buildSnapshot([JSON.parse(text)], epochSeconds(now)).serviceLevels;
  const known = [...ledgers.values()].map((ledger) => {
    const mode = classes.get(ledger.className)?.mode ?? 'Aggregated';
    return [ledger.owner.name, { ledger, mode }] as const;
  });
  return { now, byName: new Map(known) };
}

/** Whatever may happen to a cluster and to the operator. */
function createFire(cp: ControlPlane, operators: Operators, random: Random) {
  let kills = 0;
  let deletions = 0;
  let state: 'whole' | 'lost' | 'back' = 'whole';
  const deleteByForce = async (): Promise<void> => {
    const names = (await cp.kubectl(['get', 'pods', '-n', NAMESPACE, '-o', 'name'])).trim().split('\n');
    const name = names[random.below(names.length)] ?? '';
    const args = ['--grace-period=0', '--force', '--wait=false', '--ignore-not-found'];
    await cp.kubectl(['delete', '-n', NAMESPACE, name, ...args]);
    deletions += 1;
  };
  return {
    next: async (share: number): Promise<void> => {
      if (state === 'whole' && share > LOST_AFTER) {
        state = 'lost';
        await stopKubelet(cp, LOST);
      } else if (state === 'lost' && share > BACK_AFTER) {
        state = 'back';
        await startKubelet(cp, LOST);
      } else if (random.next() < 0.3) {
        await deleteByForce();
      }
      if (random.next() < BETWEEN_LOOKS / BETWEEN_KILLS && operators.process(0) !== undefined) {
        kills += 1;
        await operators.kill(0, random.below(3) * 1000);
      }
    },
    kills: () => kills,
    deletions: () => deletions,
  };
}

/** What may only grow. In mode Task useful time becomes discarded time when a pod ends. */
function countersOf({ times, asOf, preemptions }: ServiceLedger, mode: LedgerMode) {
  const { useful, discarded, pending } = times;
  return { useful: mode === 'Task' ? useful + discarded : useful, discarded, pending, asOf, preemptions };
}

/** Checks what ledgers say at one look against wall time, and against what they said before. */
function createBooks(admitted: ReadonlyMap<string, readonly number[]>) {
  const before = new Map<string, ServiceLedger>();
  const gaps = new Set<string>();
  const backwards: string[] = [];
  let looks = 0;
  let largestGap = 0;
  const compare = (name: string, ledger: ServiceLedger, mode: LedgerMode): void => {
    const last = before.get(name);
    before.set(name, ledger);
    if (last !== undefined) {
      const [old, fresh] = [countersOf(last, mode), countersOf(ledger, mode)];
      for (const counter of Object.keys(old) as (keyof typeof old)[]) {
        if (fresh[counter] < old[counter]) {
          backwards.push(`${name}: ${counter} from ${old[counter]} to ${fresh[counter]}`);
        }
      }
    }
  };
  return {
    check: ({ now, byName }: Ledgers, kills: number): void => {
      looks += 1;
      for (const [name, { ledger, mode }] of byName) {
        compare(name, ledger, mode);
        const counted = totalOf(timesAt(ledger, mode, epochSeconds(now)));
        const wall = (admitted.get(name) ?? []).reduce((sum, since) => sum + now - since, 0);
        const gap = Math.abs(counted - wall);
        largestGap = Math.max(largestGap, gap);
        if (gap > Math.max(1, kills)) {
          gaps.add(`${name}: ${gap.toFixed(2)} s after ${kills} restarts`);
        }
      }
    },
    /** What waitUntil asks for: which requests have no ledger. */
    missing: ({ byName }: Ledgers): string | undefined => {
      const names = [...admitted.keys()].filter((name) => !byName.has(name));
      return names.length === 0 ? undefined : `no ledger of ${names.join(', ')}`;
    },
    looks: () => looks,
    largestGap: () => largestGap,
    gaps: () => [...gaps],
    backwards: () => backwards,
  };
}
