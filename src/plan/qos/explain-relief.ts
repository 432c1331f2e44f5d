import { inSeconds } from '../format.ts';
import { share, toFraction } from '../load.ts';
import type { Reason } from '../plan.ts';
import { span } from './explain.ts';
import type { Reluctance } from './pressure.ts';
import type { Standing } from './standings.ts';

/** A pod on a node that is overloaded, or was. */
export interface Overload {
  readonly node: string;
  readonly load: number;
  readonly limit: number;
  readonly ready: boolean;
  readonly standing: Standing | undefined;
}

/** Why a pod stays on an overloaded node for its own sake. */
export function whyItStays(overload: Overload, why: Reluctance): Reason {
  const { standing } = overload;
  const [alpha, minRunTime] = [standing?.alpha ?? 0, standing?.serviceClass.minRunTime ?? 0];
  switch (why) {
    case 'CannotAfford': {
      const message = `runs on: ${situation(overload)}, but it cannot afford a move: after a start of ${inSeconds(alpha)} it could wait ${spanOf(standing)} at most, and other moves of its workload count as well`;
      return { code: 'CannotAfford', message, numbers: { ...numbersOf(overload), alpha } };
    }
    case 'MinRunTime': {
      const message = `runs on: ${situation(overload)}, but it has not run for ${inSeconds(minRunTime)}, the minRunTime of its class`;
      return { code: 'MinRunTime', message, numbers: { ...numbersOf(overload), minRunTime } };
    }
    default:
      return why satisfies never;
  }
}

/** Why a pod stays although it was short of time: enough has left its node. */
export function unneeded(overload: Overload): Reason {
  const { node, load, limit } = overload;
  const message = `stays: without those that leave it ${node} is at ${share(load)}, its limit is ${share(limit)}`;
  return { code: 'NotNeeded', message, numbers: numbersOf(overload) };
}

/** Why a pod stays that should be moved: the plan is full. */
export function planIsFull(overload: Overload, limit: number): Reason {
  const message = `stays: ${situation(overload)}, and the plan has its ${limit} moves`;
  return { code: 'MaxMoves', message, numbers: { limit } };
}

/** How many nodes do not take a pod, and why. */
export interface Refusals {
  readonly nodes: number;
  /** Overloaded themselves, or nobody knows. */
  readonly overloaded: number;
  /** Would be with the pod. */
  readonly crowded: number;
  /** Refused by a filter. */
  readonly refused: number;
}

/** Why a pod stays that should be moved: no node takes it. */
export function whyNoTarget(overload: Overload, { nodes, overloaded, crowded, refused }: Refusals): Reason {
  const parts = [
    `${overloaded} are overloaded or not measured since the last move`,
    `${crowded} would be overloaded with it`,
    `${refused} have no room or do not suit it`,
  ];
  const message = `stays: ${situation(overload)}, and none of the ${nodes} nodes that take part can take it: ${parts.join(', ')}`;
  return { code: 'NoFeasibleNode', message, numbers: { ...numbersOf(overload), nodes, overloaded, crowded, refused } };
}

function situation({ node, load, limit, ready, standing }: Overload): string {
  const state = ready ? 'is Ready' : 'is not Ready';
  return `it ${state} and can wait ${spanOf(standing)}, and ${node} is overloaded (${share(load)}, its limit is ${share(limit)})`;
}

function spanOf(standing: Standing | undefined): string {
  return standing === undefined ? 'for a time that is not known' : span(standing);
}

function numbersOf({ load, limit, standing }: Overload): Readonly<Record<string, number>> {
  const metric = standing?.metric ?? Number.POSITIVE_INFINITY;
  const numbers = { load: toFraction(load), limit: toFraction(limit) };
  return Number.isFinite(metric) ? { ...numbers, timeToViolate: metric } : numbers;
}
