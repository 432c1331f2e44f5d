import { MAX_MOVES } from '../../api/v1alpha1/rebalance-plan.ts';
import { type OwnerRef, podKey } from '../../model/pod.ts';
import { seconds } from '../../model/units.ts';
import type { PlanBudgets } from '../budgets/index.ts';
import type { Cluster } from '../cluster.ts';
import { latestPeriod } from '../cron.ts';
import { count, trimmed } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { share, toFraction, toLoad } from '../load.ts';
import type { PolicyOptions, StrategyOptions } from '../options.ts';
import { ownerOf } from '../owners.ts';
import type { Move, PlanOutcome, Reason } from '../plan.ts';
import type { PlanningInput } from '../planning-input.ts';
import { isBudgetCode } from '../rejection-codes.ts';
import { rejectAll, type Stays } from '../rejections.ts';
import type { State } from '../state.ts';
import { span, whyItRunsOn, whyTheyWait } from './explain.ts';
import { strandedPods } from './failover.ts';
import { freeingIdleReplicas } from './idle-replicas.ts';
import { type MeasuredLoads, measureLoads } from './measured-loads.ts';
import { NO_RELIEF, type Relief, relieve } from './overload-relief.ts';
import {
  type PreemptionPassInput,
  type PreemptionPassResult,
  preemptionPass,
  promisedPlaces,
} from './preemption-pass.ts';
import { type PreemptionRules, PUBLISHED } from './rules.ts';
import { createServicePositions } from './service-position.ts';
import { STANDARD } from './standard.ts';
import type { AdmissionStep, PreemptionPassStep, PreemptionStep } from './steps.ts';
import type { TransferStep } from './transfers.ts';

/** Settings of QoSDriven. */
export type QosOptions = Extract<StrategyOptions, { type: 'QoSDriven' }>;

interface QosFindings {
  readonly moves: readonly Move[];
  readonly stays: Stays;
  readonly outcome: PlanOutcome;
  /** After the moves. */
  readonly end: State;
}

/**
 * Lets in who waits at the gate, moves who is down with its node, and evicts whom the rules allow for that; then moves pods under
 * pressure off overloaded nodes. `start` is not changed; `budgets` are spent.
 */
export function qosDriven(
  planningInput: PlanningInput,
  start: State,
  budgets: PlanBudgets,
  strategy: QosOptions,
  policy: PolicyOptions,
): QosFindings {
  const { pods, holds } = planningInput;
  const rules = rulesOf(strategy);
  const state = start.fork();
  for (const [pod, node] of promisedPlaces(start.cluster)) {
    state.place(pod, node);
  }
  const standings = createServicePositions(planningInput, rules);
  const stranded = strandedPods(planningInput, standings);
  const queue = [...planningInput.queue, ...stranded.claimants];
  const input = { state, queue, budgets: budgets.ofPreemptions, holds, standings, rules, maxSteps: MAX_MOVES };
  const result = preemptionPass(input);
  const waits = whyTheyWait(input, result, state);
  const relief = relieveNodes(planningInput, { ...input, budgets }, result, strategy, policy);
  const steps = [...result.steps, ...relief.steps];
  const moved = new Set(steps.map(({ pod }) => pod));
  const reasons = new Map([...relief.stays, ...stranded.stays, ...waits]);
  const queued = new Set(queue);
  const isHeld = {
    inScope: holds.inScope,
    all: holds.all,
    of: (pod: PodIndex) => (queued.has(pod) || reasons.has(pod) ? undefined : holds.of(pod)),
  };
  const explain = (pod: PodIndex): Reason => reasons.get(pod) ?? whyItRunsOn(pod, standings);
  const stays = rejectAll(pods, isHeld, (pod) => moved.has(pod), explain);
  return {
    moves: describeSteps(start.cluster, steps),
    stays,
    outcome: outcomeOf(result, queue.length, waits, relief),
    end: state,
  };
}

function rulesOf({ refinements }: QosOptions): PreemptionRules {
  return freeingIdleReplicas(refinements === 'Standard' ? STANDARD : PUBLISHED);
}

function relieveNodes(
  planningInput: PlanningInput,
  input: Omit<PreemptionPassInput, 'budgets'> & { readonly budgets: PlanBudgets },
  { steps }: PreemptionPassResult,
  { pressure }: QosOptions,
  policy: PolicyOptions,
): Relief {
  const { cluster } = input.state;
  const loads =
    pressure === undefined || planningInput.mobile.length === 0
      ? undefined
      : measureLoads(planningInput, cluster, policy);
  if (pressure === undefined || loads === undefined) {
    return NO_RELIEF;
  }
  catchUp(loads, input.state);
  const period = latestPeriod(pressure.runs, planningInput.snapshot.takenAt);
  return relieve({ ...input, planningInput, loads, limit: toLoad(pressure.overload), period }, steps);
}

/** Takes the loads from where the snapshot has the pods to where they are in the state. */
function catchUp(loads: MeasuredLoads, { cluster, nodeOf }: State): void {
  cluster.home.forEach((home, pod) => {
    const node = nodeOf(pod);
    if (node !== home && home >= 0) {
      loads.remove(home, pod);
    }
    if (node !== home && node >= 0) {
      loads.add(node, pod);
    }
  });
}

function outcomeOf(
  { steps, unplaced, refusals }: PreemptionPassResult,
  waiting: number,
  waits: ReadonlyMap<PodIndex, Reason>,
  relief: Relief,
): PlanOutcome {
  const obstacle = obstacleOf(unplaced.length, waiting, unplaced[0] && waits.get(unplaced[0].pod), relief);
  if (steps.length + relief.steps.length > 0) {
    return { kind: 'Moves', obstacle };
  }
  if (obstacle === undefined) {
    return { kind: 'Balanced', message: 'no pod waits at the gate' };
  }
  const refusal = [...refusals.values()][0] ?? relief.blocked.find(({ code }) => isBudgetCode(code));
  return refusal === undefined
    ? { kind: 'NoBeneficialMove', message: obstacle }
    : { kind: 'BudgetExhausted', message: `${refusal.code} keeps pods from being evicted: ${refusal.message}` };
}

/** Who waits on, and who stays under pressure; `undefined` when nobody does. */
function obstacleOf(
  unplaced: number,
  waiting: number,
  first: Reason | undefined,
  { blocked }: Relief,
): string | undefined {
  const waits =
    first === undefined ? [] : [`${unplaced} of ${waiting} that wait have to wait on; the first ${first.message}`];
  const [worst] = blocked;
  const stays =
    worst === undefined ? [] : [`${blocked.length} under pressure cannot be moved; the first: ${worst.message}`];
  return first === undefined && worst === undefined ? undefined : [...waits, ...stays].join('; ');
}

/** What happens to one pod. */
type Step = PreemptionPassStep | TransferStep;

/** The steps for people and other programs, with names instead of places of pods and nodes. */
function describeSteps(cluster: Cluster, steps: readonly Step[]): readonly Move[] {
  return steps.map((step) => {
    switch (step.kind) {
      case 'Preemption':
        return describePreemption(cluster, step);
      case 'Admission':
        return describeAdmission(cluster, step);
      case 'Transfer':
        return describeTransfer(cluster, step);
      default:
        return step satisfies never;
    }
  });
}

function describePreemption(cluster: Cluster, { pod, node, standing, beneficiary }: PreemptionStep): Move {
  const whom = podKey(itemAt(cluster.pods, beneficiary.pod));
  const need = beneficiary.standing === undefined ? '' : `, which can wait ${span(beneficiary.standing)}`;
  return {
    ...common(cluster, pod, node),
    from: nameOf(cluster, node),
    to: undefined,
    cost: standing.alpha,
    reason: `makes room for ${whom}${need}; itself can wait ${span(standing)} (class ${standing.serviceClass.name})`,
    after: [],
  };
}

function describeAdmission(cluster: Cluster, { pod, node, standing, needs, score }: AdmissionStep): Move {
  const failed = itemAt(cluster.pods, pod).nodeName;
  const urgency = standing === undefined ? '' : `can wait ${span(standing)}; `;
  const how =
    needs.length === 0 ? `room, allocation score ${trimmed(score)}` : `room after ${count(needs.length, 'preemption')}`;
  const to = nameOf(cluster, node);
  const move = { ...common(cluster, pod, node), to, cost: seconds(0), after: needs };
  const reason = `${urgency}${to} has ${how}`;
  return failed === undefined
    ? { ...move, from: undefined, reason }
    : { ...move, from: failed, failover: true, reason: `${failed} is not Ready; ${reason}` };
}

function describeTransfer(cluster: Cluster, step: TransferStep): Move {
  const { pod, before, after, limit, standing, ready, needs } = step;
  const [from, to] = [nameOf(cluster, step.from), nameOf(cluster, step.to)];
  const state = `${ready ? 'is Ready' : 'is not Ready'} and can wait ${span(standing)} (class ${standing.serviceClass.name})`;
  const source = `${from} is overloaded: ${share(before.from)} -> ${share(after.from)}, its limit is ${share(limit)}`;
  const room = needs.length === 0 ? '' : `, after ${count(needs.length, 'move')}`;
  return {
    ...common(cluster, pod, step.from),
    from,
    to,
    load: toFraction(step.load),
    gain: toFraction(Math.max(before.from, before.to) - Math.max(after.from, after.to)),
    cost: step.start,
    reason: `${state}; ${source}; ${to} ${share(before.to)} -> ${share(after.to)}, allocation score ${trimmed(step.score)}${room}`,
    after: needs,
  };
}

function common(
  cluster: Cluster,
  pod: PodIndex,
  node: NodeIndex,
): Pick<Move, 'pod' | 'owner' | 'load' | 'gain' | 'fallbacks' | 'partner' | 'repairs'> {
  const { namespace, name, uid } = itemAt(cluster.pods, pod);
  const owner: OwnerRef | undefined = ownerOf(cluster.owners, pod)?.ref;
  if (owner === undefined) {
    throw new RangeError(`pod ${pod} has no controller`);
  }
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    load: toFraction(cluster.load.ofPod(pod, node, 0)),
    gain: 0,
    fallbacks: [],
    repairs: [],
    partner: undefined,
  };
}

function nameOf({ nodes }: Cluster, node: NodeIndex): string {
  return itemAt(nodes, node).name;
}
