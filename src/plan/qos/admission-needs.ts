import type { NodeIndex, PodIndex } from '../indices.ts';
import { subjectOf } from '../shapes.ts';
import type { State } from '../state.ts';
import { NO_NEEDS } from '../topology/needs.ts';
import type { PreemptionPassStep } from './steps.ts';

/** Which preemptions admissions wait for. */
interface Needs {
  /** Their places in the sequence, ascending. The pod is not on the node yet, and its victims have left. */
  readonly of: (pod: PodIndex, node: NodeIndex) => readonly number[];
  /** Steps were taken back. */
  readonly forget: () => void;
}

/**
 * The preemptions that an admission needs: none if the pod fits without any of them, beside those admitted so far that need
 * none either; else all on its node so far, and under affinity or spread all there were. `state` is where all of `steps`,
 * which grow, have been made.
 */
export function createNeeds(state: State, steps: readonly PreemptionPassStep[]): Needs {
  const { shapes } = state.cluster;
  const isTied = (pod: PodIndex): boolean => subjectOf(shapes, pod).topology !== NO_NEEDS;
  let without: State | undefined;
  const admits = (pod: PodIndex, node: NodeIndex): boolean => {
    if (!steps.some(({ kind }) => kind === 'Preemption')) {
      return true;
    }
    if (without === undefined) {
      without = state.fork();
      undoPreemptions(without, steps);
    }
    const fits = without.fits(pod, node);
    if (fits) {
      without.place(pod, node);
    }
    return fits;
  };
  return {
    of: (pod, node) => {
      if (admits(pod, node)) {
        return [];
      }
      const tied = isTied(pod);
      return steps.flatMap((step, place) =>
        step.kind === 'Preemption' && (tied || step.node === node) ? [place] : [],
      );
    },
    forget: () => {
      without = undefined;
    },
  };
}

/** Takes a state in which all steps have been made to where nobody is evicted, and only those are let in who need no eviction. */
export function undoPreemptions(state: State, steps: readonly PreemptionPassStep[]): void {
  for (const step of steps) {
    if (step.kind === 'Preemption') {
      state.place(step.pod, step.node);
    } else if (step.needs.length > 0) {
      state.lift(step.pod);
    }
  }
}
