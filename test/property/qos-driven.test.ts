import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceClass, ServiceLedger } from '../../src/model/service-level.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { type EpochSeconds, elapsed, seconds } from '../../src/model/units.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { isOverheadSpent, preemptionOverhead } from '../../src/qos/overhead.ts';
import { qosMetric } from '../../src/qos/time-to-violate.ts';
import { waitingAllowance, waitingTime } from '../../src/qos/waiting-time.ts';
import { aServiceClass } from '../support/builders/service-levels.ts';
import { aContest, aRequest, qosOptions } from '../support/gated.ts';

const RUNS = 1000;
const CLASSES = [1, 0.9, 0.5, 0].map((slo, place) =>
  aServiceClass({ name: `class-${place}`, slo, importance: place + 1, safetyMargin: 30 }),
);
const NODES = ['n0', 'n1', 'n2'] as const;

const contests = fc
  .record({
    slots: fc.integer({ min: 1, max: 4 }),
    requests: fc.array(
      fc.record({
        node: fc.constantFrom(...NODES, undefined),
        rank: fc.nat({ max: CLASSES.length - 1 }),
        useful: fc.nat({ max: 4000 }),
        pending: fc.nat({ max: 4000 }),
        preemptions: fc.nat({ max: 50 }),
        cpu: fc.constantFrom(100, 900, 2500),
      }),
      { maxLength: 14 },
    ),
  })
  .map(({ slots, requests }): ClusterSnapshot => {
    const used = new Map<string, { pods: number; cpu: number }>();
    const built = requests.flatMap(({ node, rank, useful, pending, preemptions, cpu }, place) => {
      const { pods, cpu: taken } = used.get(node ?? '') ?? { pods: 0, cpu: 0 };
      const isFull = node !== undefined && (pods >= slots || taken + cpu > 4000);
      if (!isFull) {
        used.set(node ?? '', { pods: pods + 1, cpu: taken + cpu });
      }
      const home = isFull ? undefined : node;
      const constraints = { requests: { cpu } };
      const { pod, ledger } = aRequest(`p${place}`, `class-${rank}`, home, { useful, pending }, { constraints });
      return { pod, ledger: { ...ledger, preemptions, overhead: seconds(2 * preemptions) } };
    });
    return aContest(Object.fromEntries(NODES.map((name) => [name, slots])), CLASSES, built);
  });

const refinements = fc.constantFrom('None' as const, 'Standard' as const);

/** Q and rank of a pod as the formulas have it. */
function standingOf(
  snapshot: ClusterSnapshot,
  name: string,
  running: boolean,
  metricOf: typeof waitingTime = qosMetric,
) {
  const { serviceLevels, takenAt } = snapshot;
  const ledger = serviceLevels.ledgers.get(`uid-${name}`);
  const promised = serviceLevels.classes.get(ledger?.className ?? '');
  if (ledger === undefined || promised === undefined) {
    throw new Error(`nothing is known of ${name}`);
  }
  const replica = { running, instance: undefined };
  const metric = metricOf(ledger, promised, replica, takenAt, promised.expectedStartup);
  const spent = isOverheadSpent(preemptionOverhead(ledger, ledger.times), promised);
  const margin = metricOf === waitingTime ? marginOf(promised, ledger, takenAt) : promised.safetyMargin;
  return { metric, margin, importance: promised.importance, spent };
}

/** With our refinements at most a tenth of what a request may lose at its age, or two starts. */
function marginOf(promised: ServiceClass, { admittedAt }: ServiceLedger, now: EpochSeconds): number {
  const { slo, safetyMargin, expectedStartup } = promised;
  const allowance = waitingAllowance(promised, elapsed(admittedAt, now));
  return slo < 1 ? Math.min(safetyMargin, Math.max(allowance / 10, 2 * expectedStartup)) : safetyMargin;
}

/** Each admission with the victims right before it. */
function transactions({
  moves,
}: Plan): readonly { readonly beneficiary: string; readonly victims: readonly string[] }[] {
  const found: { beneficiary: string; victims: readonly string[] }[] = [];
  let victims: string[] = [];
  for (const { pod, to } of moves) {
    if (to === undefined) {
      victims.push(pod.name);
    } else {
      found.push({ beneficiary: pod.name, victims });
      victims = [];
    }
  }
  return found;
}

describe('QoSDriven', () => {
  it('takes from those above their margin only for who is worse off, and below it never for the less important (12)', () => {
    fc.assert(
      fc.property(contests, (snapshot) => {
        for (const { beneficiary, victims } of transactions(plan(snapshot, qosOptions('None')))) {
          const claimant = standingOf(snapshot, beneficiary, false);
          for (const victim of victims.map((name) => standingOf(snapshot, name, true))) {
            const isAbove = victim.metric >= victim.margin;
            expect(isAbove ? victim.metric > claimant.metric : claimant.importance <= victim.importance).toBe(true);
            expect(victim.spent && claimant.importance >= victim.importance).toBe(false);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('takes from those who matter as much or more only what they can spare with our refinements (12)', () => {
    fc.assert(
      fc.property(contests, (snapshot) => {
        for (const { beneficiary, victims } of transactions(plan(snapshot, qosOptions('Standard')))) {
          const claimant = standingOf(snapshot, beneficiary, false, waitingTime);
          for (const victim of victims.map((name) => standingOf(snapshot, name, true, waitingTime))) {
            const isEqual = claimant.importance === victim.importance;
            const isSpared = victim.metric >= victim.margin || (isEqual && victim.metric > claimant.metric);
            expect(claimant.importance < victim.importance || (isSpared && !victim.spent)).toBe(true);
            expect(victim.metric >= victim.margin || claimant.metric < claimant.margin).toBe(true);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('is feasible at every prefix, and moves no pod twice (1, 2)', () => {
    fc.assert(
      fc.property(contests, refinements, (snapshot, which) => {
        const where = new Map(snapshot.pods.map(({ name, nodeName }) => [name, nodeName]));
        const { moves } = plan(snapshot, qosOptions(which));
        expect(new Set(moves.map(({ pod }) => pod.uid)).size).toBe(moves.length);
        for (const { pod, from, to, after } of moves) {
          expect([where.get(pod.name), after.every((place) => moves[place]?.to === undefined)]).toEqual([from, true]);
          where.set(pod.name, to);
          expect(overfull(snapshot, where)).toEqual([]);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('gives the same plan for the same input in any order, and changes nothing of it (6, 13)', () => {
    fc.assert(
      fc.property(contests, refinements, (snapshot, which) => {
        const before = JSON.stringify([snapshot.pods, snapshot.nodes]);
        const first = JSON.stringify(plan(snapshot, qosOptions(which)));
        const turned = { ...snapshot, pods: snapshot.pods.toReversed(), nodes: snapshot.nodes.toReversed() };
        expect(JSON.stringify(plan(turned, qosOptions(which)))).toBe(first);
        expect(JSON.stringify([snapshot.pods, snapshot.nodes])).toBe(before);
      }),
      { numRuns: RUNS / 4 },
    );
  });

  it('evicts nobody without contention, and both policies decide the same (9)', () => {
    fc.assert(
      fc.property(contests, (snapshot) => {
        const nodes = snapshot.nodes.map((node) => ({ ...node, allocatable: { ...node.allocatable, pods: 1000 } }));
        const roomy = {
          ...snapshot,
          nodes,
          pods: snapshot.pods.map((pod) => ({ ...pod, constraints: SMALL })),
        };
        const [published, ours] = [plan(roomy, qosOptions('None')), plan(roomy, qosOptions('Standard'))];
        const hosts = (found: Plan) => found.moves.map(({ pod }) => pod.name).sort();
        expect(published.moves.filter(({ to }) => to === undefined)).toEqual([]);
        expect(hosts(ours)).toEqual(hosts(published));
      }),
      { numRuns: RUNS / 4 },
    );
  });
});

const SMALL = aRequest('small', 'class-0', 'n0', {}, { constraints: { requests: { cpu: 1 } } }).pod.constraints;

function overfull({ nodes, pods }: ClusterSnapshot, where: ReadonlyMap<string, string | undefined>): readonly string[] {
  return nodes.flatMap(({ name, allocatable }) => {
    const here = pods.filter((pod) => where.get(pod.name) === name);
    const cpu = here.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0);
    return here.length > allocatable.pods || cpu > allocatable.cpu ? [name] : [];
  });
}
