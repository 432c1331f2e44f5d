import type { MoveStatus, RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicySpec, RebalancePolicyStatus } from '../../api/v1alpha1/rebalance-policy.ts';
import { describeOutcome, entries } from '../../execute/journal.ts';
import { matches } from '../../model/selector.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { resolveSelector } from '../../plan/resolve-options.ts';
import type { StoredPolicy } from '../../ports.ts';
import { resourcesIn } from '../imbalance.ts';
import { messageParts } from '../plan-text.ts';
import { domainsText } from '../plan-traffic.ts';
import { currentPlan } from '../policy-status.ts';
import { shiftsOf } from './shifts.ts';
import type { BeforeAfter, HistoryRow, MoveRow, PlanRow, PolicyRow, TrafficRow } from './state.ts';

/** A policy with the one of `plans` to look at that is its own. */
export function policyRow(
  { policy, invalid }: StoredPolicy,
  plans: readonly RebalancePlan[],
  snapshot: ClusterSnapshot | undefined,
): PolicyRow {
  const { spec, status, metadata } = policy;
  const current = currentPlan(plans.filter((plan) => plan.spec.policy.uid === (metadata.uid ?? '')));
  return {
    strategy: spec.strategy.type,
    mode: spec.mode,
    suspended: spec.suspend,
    ...present('leader', status?.leader),
    ...(invalid.length === 0 ? {} : { invalid: invalid.join('; ') }),
    weights: Object.fromEntries(spec.load.resources.map(({ name, weight }) => [name, weight])),
    aggregate: spec.load.aggregate,
    source: spec.load.source,
    outside: outsideOf(spec, snapshot),
    trigger: Number(spec.thresholds.trigger),
    ...numeric('imbalance', status?.imbalance),
    ...present('lastRun', status?.lastRun),
    ...present('nextRun', status?.nextRun),
    ...numeric('hitRatio', status?.hitRatio),
    conditions: (status?.conditions ?? []).map(({ type, status: state, reason, message }) => ({
      type,
      status: state,
      reason,
      message,
    })),
    ...(current === undefined ? {} : { plan: planRow(current, snapshot) }),
    history: (status?.history ?? []).map(historyRow),
  };
}

function outsideOf({ scope }: RebalancePolicySpec, snapshot: ClusterSnapshot | undefined): readonly string[] {
  const selector = resolveSelector(scope.nodeSelector);
  return (snapshot?.nodes ?? []).filter(({ labels }) => !matches(selector, labels)).map(({ name }) => name);
}

function planRow(plan: RebalancePlan, snapshot: ClusterSnapshot | undefined): PlanRow {
  const { metadata, spec, status } = plan;
  const phase = status?.phase ?? 'Proposed';
  const [message, ...notes] = messageParts(status?.message ?? spec.message);
  const isOfNow = phase !== 'Superseded' && snapshot !== undefined;
  return {
    name: metadata.name,
    phase,
    outcome: spec.outcome,
    message,
    notes,
    takenAt: spec.takenAt,
    ...present('finishedAt', status?.finishedAt),
    ...present('steering', status?.steering),
    ...numeric('expectedHitRatio', spec.expectedHitRatio),
    stddev: stddevOf(status?.imbalance ?? {}),
    moves: Object.fromEntries(entries(plan).map(({ index, move, run }) => [String(index), moveRow(move, run)])),
    shifts: isOfNow ? shiftsOf(plan, snapshot) : {},
    stays: spec.rejectionCounts,
    ...present('traffic', spec.traffic && trafficRow(spec.traffic)),
  };
}

function trafficRow({
  domain,
  before,
  planned,
  between = [],
}: NonNullable<RebalancePlan['spec']['traffic']>): TrafficRow {
  return {
    domains: domainsText(domain),
    before: Number(before.bandwidth),
    planned: Number(planned.bandwidth),
    between: Object.fromEntries(
      between.map((pair) => [pair.domains.join('/'), { before: Number(pair.before), planned: Number(pair.planned) }]),
    ),
  };
}

type Imbalance = NonNullable<NonNullable<RebalancePlan['status']>['imbalance']>;

function stddevOf(imbalance: Imbalance): PlanRow['stddev'] {
  return Object.fromEntries(
    resourcesIn(imbalance).flatMap((resource) => {
      const figures = (['before', 'planned', 'actual'] as const).flatMap((phase) => {
        const figure = imbalance[phase]?.[resource]?.stddev;
        return figure === undefined ? [] : [[phase, Number(figure)] as const];
      });
      return figures.length === 0 ? [] : [[resource, Object.fromEntries(figures) as BeforeAfter]];
    }),
  );
}

function moveRow(
  {
    pod,
    owner,
    workload,
    from,
    to,
    removal,
    gain,
    cost,
    reason,
    repairs,
    makesRoomFor,
    after,
  }: RebalancePlan['spec']['moves'][number],
  run: MoveStatus,
): MoveRow {
  const top = workload ?? owner;
  return {
    pod: `${pod.namespace}/${pod.name}`,
    owner: `${top.kind} ${top.name}`,
    ...present('from', from),
    ...present('to', to),
    ...present('removal', removal),
    ...present('repairs', repairs),
    ...present('makesRoomFor', makesRoomFor),
    phase: run.phase,
    gain: Number(gain),
    ...numeric('cost', cost),
    ...present('measured', run.unavailableSeconds),
    reason,
    ...present('outcome', run.outcome === undefined ? undefined : describeOutcome(run)),
    ...present('after', after),
    ...present('replacement', run.replacement?.name),
    ...present('landedOn', run.replacement?.node),
  };
}

type Run = NonNullable<RebalancePolicyStatus['history']>[number];

function historyRow({ time, outcome, moves, before, planned, actual, plan }: Run): HistoryRow {
  return {
    time,
    outcome,
    moves,
    ...numeric('before', before),
    ...numeric('planned', planned),
    ...numeric('actual', actual),
    ...present('plan', plan),
  };
}

function present<Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> {
  return value === undefined ? {} : ({ [key]: value } as Record<Key, Value>);
}

function numeric<Key extends string>(key: Key, text: string | undefined): Partial<Record<Key, number>> {
  return present(key, text === undefined ? undefined : Number(text));
}
