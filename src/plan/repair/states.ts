import type { PodInfo } from '../../model/pod.ts';
import type { StateFilter } from '../options.ts';

/** Reasons of a pod's status, and of its containers for waiting or having been terminated. */
export function reasonsOf({ reason, states, initStates }: PodInfo, includingInit: boolean): readonly string[] {
  return [...(reason === undefined ? [] : [reason]), ...states.reasons, ...(includingInit ? initStates.reasons : [])];
}

/**
 * ` in state CrashLoopBackOff`: the state of those asked for that a pod or a container of it is in; empty where all count, and
 * `undefined` when it is in none of them.
 */
export function stateNote(pod: PodInfo, { states, includingInit }: StateFilter): string | undefined {
  if (states === undefined) {
    return '';
  }
  const state = [pod.phase, ...reasonsOf(pod, includingInit)].find((each) => states.has(each));
  return state && ` in state ${state}`;
}
