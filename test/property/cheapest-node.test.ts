import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ServiceLedger } from '../../src/model/service-level.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { epochSeconds, milliCpu, seconds } from '../../src/model/units.ts';
import { budgetsInForce } from '../../src/plan/budgets/in-force.ts';
import { createBudgets } from '../../src/plan/budgets/index.ts';
import { clusterOf, planningInputOf } from '../../src/plan/planning-input.ts';
import { FREE } from '../../src/plan/qos/guesses.ts';
import { freeingIdleReplicas } from '../../src/plan/qos/idle-replicas.ts';
import { preemptionPass } from '../../src/plan/qos/preemption-pass.ts';
import { type PreemptionRules, PUBLISHED } from '../../src/plan/qos/rules.ts';
import { createServicePositions, type ServicePositions } from '../../src/plan/qos/service-position.ts';
import { STANDARD } from '../../src/plan/qos/standard.ts';
import type { PreemptionPassStep } from '../../src/plan/qos/steps.ts';
import { initialState } from '../../src/plan/state.ts';
import { crowdedSnapshot } from '../support/crowd.ts';
import { qosOptions } from '../support/gated.ts';

const RUNS = 300;

const crowds = fc
  .record({
    seed: fc.nat(),
    nodes: fc.integer({ min: 2, max: 12 }),
    podsPerNode: fc.integer({ min: 3, max: 12 }),
    waiting: fc.integer({ min: 1, max: 40 }),
    tied: fc.constantFrom(0, 0.5),
    size: fc.constantFrom(1, 2, 5),
    youth: fc.constantFrom(1, 0.3, 0.05),
    calm: fc.constantFrom(1, 0.05),
  })
  .map(({ size, youth, calm, ...options }) => varied(crowdedSnapshot(options), size, youth, calm));

/**
 * The crowd with nodes whose cpu is taken as well, pods that wait `size` times as large, and ledgers younger, each by another share down
 * to `youth`, with availabilities nearer to their SLO, the smaller `calm` is.
 */
function varied(snapshot: ClusterSnapshot, size: number, youth: number, calm: number): ClusterSnapshot {
  const { nodes, pods, serviceLevels, takenAt } = snapshot;
  const cpuOn = Map.groupBy(pods, ({ nodeName }) => nodeName);
  const sloOf = ({ className }: ServiceLedger): number => serviceLevels.classes.get(className)?.slo ?? 1;
  const aged = [...serviceLevels.ledgers].map(([uid, ledger], place): [string, ServiceLedger] => {
    const share = youth ** ((place % 5) / 4);
    const age = share * (takenAt - ledger.admittedAt);
    const total = age * (ledger.running + ledger.waiting);
    const slo = sloOf(ledger);
    const got = ledger.times.useful / (ledger.times.useful + ledger.times.pending);
    const useful = total * (slo + calm * (got - slo));
    const times = { useful: seconds(useful), discarded: seconds(0), pending: seconds(total - useful) };
    return [uid, { ...ledger, admittedAt: epochSeconds(takenAt - age), times }];
  });
  return {
    ...snapshot,
    nodes: nodes.map((node) => {
      const here = cpuOn.get(node.name) ?? [];
      const cpu = here.reduce((sum, { constraints }) => sum + constraints.requests.cpu, 0);
      return { ...node, allocatable: { ...node.allocatable, cpu: milliCpu(cpu), pods: here.length + 2 } };
    }),
    pods: pods.map((pod) => (pod.nodeName === undefined ? enlarged(pod, size) : pod)),
    serviceLevels: { ...serviceLevels, ledgers: new Map(aged) },
  };
}

function enlarged(pod: ClusterSnapshot['pods'][number], size: number): ClusterSnapshot['pods'][number] {
  const { requests } = pod.constraints;
  return { ...pod, constraints: { ...pod.constraints, requests: { ...requests, cpu: milliCpu(size * requests.cpu) } } };
}

type Change<Thing> = (thing: Thing) => Thing;

function passOver(
  snapshot: ClusterSnapshot,
  base: PreemptionRules,
  rulesBy: Change<PreemptionRules> = (rules) => rules,
  standingsBy: Change<ServicePositions> = (standings) => standings,
): readonly PreemptionPassStep[] {
  const policy = qosOptions('None');
  const input = planningInputOf(snapshot, policy);
  const cluster = clusterOf(input, policy);
  const active = budgetsInForce(policy.budgets, snapshot.takenAt);
  const { ofPreemptions } = createBudgets(active, cluster, input.pdbs, input.history, false);
  const rules = rulesBy(freeingIdleReplicas(base));
  const standings = standingsBy(createServicePositions(input, rules));
  const { queue, holds } = input;
  const state = initialState(cluster);
  return preemptionPass({ state, queue, budgets: ofPreemptions, holds, standings, rules, maxSteps: 1000 }).steps;
}

/** Takes every node to be the best until it has been looked at. */
function hopeful(rules: PreemptionRules): PreemptionRules {
  const best = { cost: FREE, victims: [0], bound: Number.POSITIVE_INFINITY };
  return { ...rules, bestCaseFor: () => (residents) => (residents.length === 0 ? undefined : best) };
}

/** Gives every pod a class of its own, so that nothing that was found for one is used for another. */
function apart(standings: ServicePositions): ServicePositions {
  return {
    ...standings,
    of: (pod, change) => {
      const standing = standings.of(pod, change);
      const { serviceClass } = standing ?? {};
      return (
        standing &&
        serviceClass && { ...standing, serviceClass: { ...serviceClass, name: `${serviceClass.name}-${pod}` } }
      );
    },
  };
}

describe('the search for the node on which room costs least', () => {
  it.each([
    ['as published', PUBLISHED],
    ['with our refinements', STANDARD],
  ])('finds what a look at every node for every pod finds, %s', (_, base) => {
    let evictions = 0;
    const told = ({ kind, pod, node }: PreemptionPassStep): string => `${kind} ${pod} ${node}`;
    fc.assert(
      fc.property(crowds, (snapshot) => {
        const found = passOver(snapshot, base).map(told);
        expect(found).toEqual(passOver(snapshot, base, hopeful, apart).map(told));
        evictions += found.filter((step) => step.startsWith('Preemption')).length;
      }),
      { numRuns: RUNS },
    );
    expect(evictions).toBeGreaterThan(RUNS);
  });
});
