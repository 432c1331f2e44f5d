import type { SchedulingConstraints } from '../../model/pod.ts';
import type { FreeCapacity } from '../free-capacity.ts';

/** What a node lacks for a pod of the resources that it lacks, each in its unit: those that victims have to give back. */
export interface Shortage {
  readonly amounts: readonly number[];
  /** What a pod gives back of each when it leaves. */
  readonly givenBackBy: (pod: SchedulingConstraints) => readonly number[];
}

/** Of resources alone; a node that lacks none may refuse the pod all the same, for a host port or a volume. */
export function shortageOf({ requests }: SchedulingConstraints, room: FreeCapacity): Shortage {
  const lacking = [
    { lack: 1 - room.slots, of: () => 1 },
    ...(['cpu', 'memory', 'ephemeralStorage'] as const).map((name) => ({
      lack: requests[name] === 0 ? 0 : requests[name] - room[name],
      of: (pod: SchedulingConstraints) => pod.requests[name],
    })),
    ...[...requests.extended].map(([name, need]) => ({
      lack: need - (room.extended.get(name) ?? 0),
      of: (pod: SchedulingConstraints) => pod.requests.extended.get(name) ?? 0,
    })),
  ].filter(({ lack }) => lack > 0);
  return {
    amounts: lacking.map(({ lack }) => lack),
    givenBackBy: (pod) => lacking.map(({ of }) => of(pod)),
  };
}

/** Whether pods that give this back end a shortage. */
export function covers(amounts: readonly number[], given: readonly (readonly number[])[]): boolean {
  return amounts.every((amount, place) => given.reduce((sum, each) => sum + (each[place] ?? 0), 0) >= amount);
}

/** The fewest of these pods that could end the shortage, at least one; Infinity: all of them together do not. */
export function fewestThatCover(amounts: readonly number[], given: readonly (readonly number[])[]): number {
  const counts = amounts.map((amount, place) => {
    const largest = given.map((each) => each[place] ?? 0).sort((left, right) => right - left);
    let sum = 0;
    const needed = largest.findIndex((each) => {
      sum += each;
      return sum >= amount;
    });
    return needed < 0 ? Number.POSITIVE_INFINITY : needed + 1;
  });
  return Math.max(given.length === 0 ? Number.POSITIVE_INFINITY : 1, ...counts);
}
