import type { MoveStatus, RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import { advance, type MoveEffect, type MoveEvent, type Observation } from '../execute/advance.ts';
import { isAvailable, recovery, shortfall } from '../execute/availability.ts';
import { entries, inFlightElsewhere, type JournalEntry, withRuns } from '../execute/journal.ts';
import { opensToTarget } from '../execute/open-gate.ts';
import { readyMoves } from '../execute/ready-moves.ts';
import { isFinal, isInFlight } from '../execute/transitions.ts';
import { parseInstant } from '../model/instant.ts';
import { matches } from '../model/selector.ts';
import { elapsed } from '../model/units.ts';
import { drainOf } from '../plan/participation.ts';
import type { EvictionAnswer } from '../ports.ts';
import { type Cluster, HINT_DELAY } from './cluster.ts';
import type { SchedulingViews } from './scheduling-view.ts';
import type { SimulatedPod } from './world.ts';

/** What an executor acts through. */
export interface ExecutorSettings {
  readonly cluster: Cluster;
  readonly views: SchedulingViews;
  /** All other plans as they stand now, for what is in flight elsewhere. */
  readonly others: () => readonly RebalancePlan[];
  /** An eviction was accepted: of a transfer, or of a preemption. */
  readonly evicted: (pod: SimulatedPod, kind: 'Transfer' | 'Preemption') => void;
}

/** Carries out one plan by the operator's own reducer and rules, on the simulated cluster. */
export interface Executor {
  readonly plan: () => RebalancePlan;
  /** Looks at the moves in flight, then begins what may begin. True when anything has changed. */
  readonly step: (maxConcurrent: number) => boolean;
  /** Lets no further move begin. */
  readonly abort: (why: string) => void;
  readonly isDone: () => boolean;
}

/** An executor of a plan that is to be carried out from now on. */
export function createExecutor(initial: RebalancePlan, settings: ExecutorSettings): Executor {
  const { cluster, views } = settings;
  const { world } = cluster;
  const steering = initial.status?.steering ?? 'None';
  const plannedAt = parseInstant(initial.spec.takenAt);
  const moved = new Map(
    initial.spec.moves
      .map(({ pod }) => [pod.uid, world.podOf(pod.uid)] as const)
      .filter(([, pod]) => pod !== undefined),
  );
  const journal = [...entries(initial)];
  let stored: RebalancePlan | undefined = initial;

  const currentPlan = (): RebalancePlan => {
    stored ??= { ...initial, status: withRuns(initial, new Map(journal.map(({ index, run }) => [index, run]))) };
    return stored;
  };

  /** Writes what an event makes of a move, and performs what it asks for. True when the journal has changed. */
  function apply(entry: JournalEntry, event: MoveEvent): boolean {
    const { run, effects } = advance(entry.run, event, entry.move, world.wallClock());
    const hasChanged = run !== entry.run;
    if (hasChanged) {
      journal[entry.index] = { ...entry, run };
      stored = undefined;
    }
    const opened = perform({ ...entry, run }, effects);
    return hasChanged || opened;
  }

  function perform(entry: JournalEntry, effects: readonly MoveEffect[]): boolean {
    const { move, run } = entry;
    if (effects.includes('RemoveHint')) {
      cluster.removeHint(move.pod.uid);
    }
    if (effects.includes('Evict')) {
      const isHinted = effects.includes('PlaceHint') && steering === 'AdmissionPolicy';
      if (isHinted) {
        cluster.placeHint(move.pod.uid, move.owner.uid, move.to ?? '');
        world.queue.at(world.queue.now() + HINT_DELAY, () => evict(entry.index));
      } else {
        evict(entry.index);
      }
    }
    return effects.includes('OpenGate') && openGate(entry, run);
  }

  function evict(index: number): void {
    const entry = journal[index];
    if (entry === undefined) {
      return;
    }
    const pod = moved.get(entry.move.pod.uid);
    const answer = answerTo(pod);
    apply(entry, { kind: 'Answer', answer });
    if (pod !== undefined && answer.kind === 'Accepted') {
      settings.evicted(pod, entry.move.to === undefined ? 'Preemption' : 'Transfer');
      cluster.terminate(pod);
    }
  }

  function answerTo(pod: SimulatedPod | undefined): EvictionAnswer {
    if (pod === undefined || !pod.exists) {
      return { kind: 'Gone' };
    }
    const { namespace, labels } = pod.info;
    const budget = world
      .pdbs()
      .find((pdb) => pdb.namespace === namespace && pdb.selector !== undefined && matches(pdb.selector, labels));
    return budget === undefined || budget.disruptionsAllowed > 0
      ? { kind: 'Accepted' }
      : { kind: 'RefusedByBudget', message: `PodDisruptionBudget ${budget.name} allows no disruption` };
  }

  /** An admission stays at the gate when its node cannot take it; a replacement then goes wherever it may. */
  function openGate({ move }: JournalEntry, run: MoveStatus): boolean {
    const pod = world.podOf(run.replacement?.uid ?? '');
    if (pod?.info.waiting?.gated !== true) {
      return false;
    }
    const isAdmission = move.from === undefined;
    const target = isAdmission || opensToTarget(initial) ? move.to : undefined;
    const obstacle = target === undefined ? undefined : obstacleAt(pod, target);
    if (obstacle !== undefined && isAdmission) {
      return false;
    }
    cluster.openGate(pod, obstacle === undefined ? target : undefined);
    return true;
  }

  function obstacleAt(pod: SimulatedPod, target: string): string | undefined {
    const node = world.nodes.get(target)?.info;
    if (node === undefined || !node.ready) {
      return `${target} is ${node === undefined ? 'gone' : 'not Ready'}`;
    }
    const drain = drainOf(node);
    if (drain !== undefined) {
      return `${target}: ${drain}`;
    }
    const view = views.current();
    return view.fits(pod, view.nodeNames.indexOf(target)) ? undefined : `${target} cannot take it any more`;
  }

  function check({ move }: JournalEntry): MoveEvent {
    const pod = moved.get(move.pod.uid);
    const isTransfer = move.from !== undefined && move.to !== undefined;
    const isRelief = isTransfer && initial.spec.strategy === 'QoSDriven';
    const change = isRelief && pod !== undefined ? recovery(pod.info, plannedAt) : undefined;
    const drift = driftOf(pod, move) ?? change;
    if (pod === undefined || drift !== undefined) {
      return { kind: 'Skip', why: drift ?? 'the pod is gone' };
    }
    const isLoss = isTransfer && pod.info.ready;
    const siblings = isLoss ? podsOf(pod) : [];
    const shortage = isLoss ? shortfall(pod.workload.info, siblings, world.wallClock()) : undefined;
    if (shortage !== undefined) {
      return { kind: 'Hold', why: shortage };
    }
    const obstacle = move.to === undefined ? undefined : obstacleAt(pod, move.to);
    if (obstacle !== undefined) {
      return { kind: 'Skip', why: obstacle };
    }
    const answer = move.from === undefined ? undefined : answerTo(pod);
    return answer === undefined || answer.kind === 'Accepted'
      ? { kind: 'Begin', serverTime: world.wallClock(), leaderEpoch: undefined }
      : { kind: 'Answer', answer };
  }

  function podsOf({ workload }: SimulatedPod) {
    return workload.instances.flatMap((pod) => pod?.info ?? []);
  }

  function observation({ move }: JournalEntry): Observation {
    const pod = moved.get(move.pod.uid);
    const isAdmission = move.from === undefined;
    const successor = isAdmission ? pod : pod?.workload.instances[pod.instance];
    const found = successor?.exists === true && !successor.info.terminating ? successor.info : undefined;
    const isReplaced = found !== undefined && (isAdmission || found.uid !== move.pod.uid);
    const serverTime = world.wallClock();
    const minReady = pod?.workload.info.minReadySeconds;
    return {
      pod: pod?.exists !== true ? 'Gone' : pod.info.terminating ? 'Terminating' : 'Running',
      serverTime,
      awaited: pod !== undefined && !pod.workload.ended && pod.instance < pod.workload.replicas,
      replacement:
        isReplaced && minReady !== undefined
          ? {
              name: found.name,
              uid: found.uid,
              node: found.nodeName,
              available: isAvailable(found, minReady, serverTime),
              readySince: found.ready ? found.readySince : undefined,
              age: elapsed(found.createdAt, serverTime),
              waiting: found.waiting,
            }
          : undefined,
    };
  }

  function followUp(): boolean {
    const before = journal.filter(({ run }) => isInFlight(run.phase));
    return before.map((entry) => apply(entry, { kind: 'Observed', ...observation(entry) })).includes(true);
  }

  function begin(maxConcurrent: number): boolean {
    const elsewhere = inFlightElsewhere(initial, settings.others());
    const { ready, hopeless } = readyMoves(journal, elsewhere, maxConcurrent, world.wallClock());
    const skipped = hopeless.map(({ entry, why }) => apply(entry, { kind: 'Skip', why }));
    const begun = ready.map((entry) => apply(entry, check(entry)));
    return [...skipped, ...begun].includes(true);
  }

  return {
    plan: currentPlan,
    step: (maxConcurrent) => {
      const hasMoved = followUp();
      const hasBegun = begin(maxConcurrent);
      return hasMoved || hasBegun;
    },
    abort: (why) => {
      for (const entry of journal.filter(({ run }) => run.phase === 'Planned')) {
        apply(entry, { kind: 'Abort', why });
      }
    },
    isDone: () => journal.every(({ run }) => isFinal(run.phase)),
  };
}

/** Why the pod is not what was planned with; `undefined` when it is. */
function driftOf(pod: SimulatedPod | undefined, { from }: JournalEntry['move']): string | undefined {
  if (pod === undefined || !pod.exists || pod.info.terminating) {
    return 'the pod is gone';
  }
  if (pod.info.nodeName !== from) {
    return `the pod is on ${pod.info.nodeName ?? 'no node'}, not on ${from ?? 'none'}`;
  }
  return from === undefined && pod.info.waiting?.gated !== true
    ? 'the pod waits at our scheduling gate no more'
    : undefined;
}
