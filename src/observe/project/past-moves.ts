import { MOVE_PHASES, type MovePhase, type RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';
import { compareText } from '../../model/compare-text.ts';
import {
  describe,
  integerAt,
  type JsonObject,
  MalformedField,
  nameAt,
  objectAt,
  objectsAt,
  textAt,
  timestampAt,
} from '../../model/json.ts';
import { isDisruption } from '../../model/move.ts';
import { oncePer } from '../../model/once-per.ts';
import type { PastMove, PastReplacement } from '../../model/past-move.ts';
import type { OwnerRef, PodRef } from '../../model/pod.ts';
import { type Seconds, seconds } from '../../model/units.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';

const POD_REF_FIELDS: FieldMask = { namespace: true, name: true, uid: true };
/** What cooldown, quarantine and lost service are worked out from; the rejections of a plan are no part of it. */
export const PLAN_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: {
    moves: [
      {
        pod: POD_REF_FIELDS,
        owner: { kind: true, name: true, uid: true },
        from: true,
        to: true,
        failover: true,
        removal: true,
        cost: true,
      },
    ],
  },
  status: {
    moves: [
      {
        podUID: true,
        phase: true,
        startedAt: true,
        finishedAt: true,
        unavailableSeconds: true,
        replacement: { uid: true, node: true },
      },
    ],
  },
};

/** The moves from node to node and the preemptions of one RebalancePlan whose eviction was sent, or may have been. */
export interface ProjectedPlan {
  readonly name: string;
  readonly moves: readonly PastMove[];
}

/** What a phase of the journal means for what was moved; `undefined` when no eviction was sent (execution.md, the journal). */
const PHASES = {
  Planned: undefined,
  Intent: 'InFlight',
  Evicting: 'InFlight',
  AwaitingReplacement: 'InFlight',
  Verifying: 'InFlight',
  Vacated: 'Vacated',
  Landed: 'Landed',
  Missed: 'Missed',
  Failed: 'Failed',
  Skipped: undefined,
  Aborted: undefined,
} as const satisfies Record<MovePhase, PastMove['phase'] | undefined>;

/** What the journal of a RebalancePlan remembers, in the order of the plan. Throws MalformedField. */
export function projectPastMoves(object: JsonObject): ProjectedPlan {
  const { name } = readMetadata(object, 'RebalancePlan', 'Cluster');
  const runs = new Map<string, readonly [run: JsonObject, field: string]>();
  objectsAt(objectAt(object, 'status', '') ?? {}, 'moves', 'status').forEach((run, index) => {
    const field = `status.moves[${index}]`;
    runs.set(textAt(run, 'podUID', field) ?? '', [run, field]);
  });
  const shared = createShared();
  const planned = objectsAt(objectAt(object, 'spec', '') ?? {}, 'moves', 'spec');
  const moves = planned.flatMap((move, index) => {
    const field = `spec.moves[${index}]`;
    const pod = readPod(objectAt(move, 'pod', field) ?? {}, `${field}.pod`, shared);
    const [run, place] = runs.get(pod.uid) ?? [];
    return run === undefined || place === undefined
      ? []
      : readMove({ plan: name, pod, move, field, run, place, shared });
  });
  return { name, moves };
}

/** The texts and owners of a plan's moves, of which few differ, each once: as many as a hundred thousand moves are remembered. */
interface Shared {
  text<Text extends string | undefined>(text: Text): Text;
  owner(owner: OwnerRef): OwnerRef;
}

function createShared(): Shared {
  const texts = new Map<string | undefined, string | undefined>();
  const owners = new Map<string, OwnerRef>();
  return {
    text: (text) => firstOf(texts, text, text) as typeof text,
    owner: (owner) => firstOf(owners, owner.uid, owner),
  };
}

/** The first value that came with this key. */
function firstOf<Key, Value>(values: Map<Key, Value>, key: Key, value: Value): Value {
  const known = values.get(key) ?? value;
  values.set(key, known);
  return known;
}

/** Sorted, so that little is left to sort when those of all plans come together. */
const movesOf = oncePer((plan: RebalancePlan) => projectPastMoves({ ...plan }).moves.toSorted(byStart));

/** What the journals of these plans remember, the oldest move first. */
export function pastMovesOf(plans: Iterable<RebalancePlan>): readonly PastMove[] {
  return [...plans].flatMap(movesOf).sort(byStart);
}

/** By start, plan and pod. */
export function byStart(left: PastMove, right: PastMove): number {
  return (
    left.startedAt - right.startedAt || compareText(left.plan, right.plan) || compareText(left.pod.uid, right.pod.uid)
  );
}

interface Source {
  readonly plan: string;
  readonly pod: PodRef;
  readonly move: JsonObject;
  readonly field: string;
  readonly run: JsonObject;
  readonly place: string;
  readonly shared: Shared;
}

function readMove({ plan, pod, move, field, run, place, shared }: Source): readonly PastMove[] {
  const text = textAt(run, 'phase', place);
  const phase = MOVE_PHASES.find((known) => known === text);
  if (phase === undefined) {
    throw new MalformedField(`${place}.phase`, `${describe(text)} is not a phase: write ${MOVE_PHASES.join(', ')}`);
  }
  const sent = PHASES[phase];
  const startedAt = timestampAt(run, 'startedAt', place);
  const [from, to] = [textAt(move, 'from', field), textAt(move, 'to', field)];
  const costsService = isDisruption({
    from,
    to,
    failover: move.failover === true,
    removal: move.removal === true,
  });
  if (sent === undefined || startedAt === undefined || !costsService) {
    return [];
  }
  const unavailable = integerAt(run, 'unavailableSeconds', place);
  return [
    {
      plan,
      pod,
      owner: shared.owner(readOwner(objectAt(move, 'owner', field) ?? {}, `${field}.owner`)),
      from: shared.text(nameAt(move, 'from', field)),
      to: shared.text(to === undefined ? undefined : nameAt(move, 'to', field)),
      replacement: readReplacement(objectAt(run, 'replacement', place), `${place}.replacement`, shared),
      phase: sent,
      startedAt,
      endedAt: timestampAt(run, 'finishedAt', place),
      unavailable: unavailable === undefined ? undefined : seconds(Math.max(0, unavailable)),
      cost: readCost(move, field),
    },
  ];
}

function readPod(pod: JsonObject, field: string, { text }: Shared): PodRef {
  const [namespace, name, uid] = [
    text(nameAt(pod, 'namespace', field)),
    nameAt(pod, 'name', field),
    nameAt(pod, 'uid', field),
  ];
  return { namespace, name, uid };
}

function readOwner(owner: JsonObject, field: string): OwnerRef {
  return { kind: nameAt(owner, 'kind', field), name: nameAt(owner, 'name', field), uid: nameAt(owner, 'uid', field) };
}

function readReplacement(
  replacement: JsonObject | undefined,
  field: string,
  { text }: Shared,
): PastReplacement | undefined {
  return replacement === undefined
    ? undefined
    : { uid: nameAt(replacement, 'uid', field), node: text(textAt(replacement, 'node', field)) || undefined };
}

function readCost(move: JsonObject, field: string): Seconds | undefined {
  const text = textAt(move, 'cost', field);
  if (text === undefined) {
    return undefined;
  }
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) {
    throw new MalformedField(`${field}.cost`, `${describe(text)} is not a number of seconds`);
  }
  return seconds(Number(text));
}
