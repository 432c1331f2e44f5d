import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { isAtHome } from './arbitraries.ts';
import { isTolerated } from './naive-scheduler.ts';

/** Whether the scheduler would let a pod go to a node; apart from the code under test. */
export function isFeasible(state: ClusterSnapshot, uid: string, to: string): boolean {
  const pod = state.pods.find((each) => each.uid === uid);
  const node = state.nodes.find(({ name }) => name === to);
  const beside = state.pods.filter(({ nodeName }) => nodeName === to);
  return pod !== undefined && node !== undefined && isAtHome(pod, node, beside) && isTolerated(pod, node, state);
}

/** What moves are looked for. */
interface Wanted {
  readonly isDone: (state: ClusterSnapshot) => boolean;
  readonly mayMove: (pod: PodInfo) => boolean;
  /** Moves at most. */
  readonly most: number;
}

/**
 * The fewest moves after which `isDone`, each of another pod and feasible where it is made, by trying all; `undefined` when more
 * than `most` would be needed, or none suffice.
 */
export function fewestMoves(snapshot: ClusterSnapshot, { isDone, mayMove, most }: Wanted): number | undefined {
  const { pods, nodes } = snapshot;
  const isRoomy = (state: ClusterSnapshot): boolean =>
    nodes.every(
      ({ name, allocatable }) => state.pods.filter(({ nodeName }) => nodeName === name).length <= allocatable.pods,
    );
  const reachable = (state: ClusterSnapshot, from: number, moves: number): boolean => {
    if (moves === 0) {
      return isRoomy(state) && isDone(state) && hasOrder(snapshot, state);
    }
    return pods.slice(from).some(
      (pod, place) =>
        mayMove(pod) &&
        nodes.some(({ name }) => {
          const moved = state.pods.map((other) => (other.uid === pod.uid ? { ...other, nodeName: name } : other));
          return name !== pod.nodeName && reachable({ ...state, pods: moved }, from + place + 1, moves - 1);
        }),
    );
  };
  return Array.from({ length: most + 1 }, (_, moves) => moves).find((moves) => reachable(snapshot, 0, moves));
}

/** Whether pods can go from one placement to the other one by one, each once, to where the scheduler would let it go. */
function hasOrder(from: ClusterSnapshot, to: ClusterSnapshot): boolean {
  const open = from.pods.filter(({ nodeName }, place) => nodeName !== to.pods[place]?.nodeName);
  return (
    open.length === 0 ||
    open.some((pod) => {
      const target = to.pods.find(({ uid }) => uid === pod.uid)?.nodeName ?? '';
      const pods = from.pods.map((other) => (other === pod ? { ...pod, nodeName: target } : other));
      return isFeasible(from, pod.uid, target) && hasOrder({ ...from, pods }, to);
    })
  );
}
