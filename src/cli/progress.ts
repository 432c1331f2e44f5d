import type { ClusterSnapshot } from '../model/snapshot.ts';
import type { Screen } from './screen.ts';

/** After this many milliseconds people want to know what is going on. */
const PATIENCE = 1000;
const ERASE = '\r\u001b[K';
/** Pods from which on a plan may take a second. */
const MANY_PODS = 10_000;

/** Does `work`; when it takes longer than a second, a line on standard error says what is being done, on terminals alone. */
export async function withProgress<Result>(
  screen: Screen,
  doing: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!screen.showsProgress) {
    return work();
  }
  let shown = false;
  const timer = setTimeout(() => {
    shown = true;
    void screen.writeError(`${doing} ...`);
  }, PATIENCE);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (shown) {
      await screen.writeError(ERASE);
    }
  }
}

/** Computes a plan, or something of its kind; with many pods a line on standard error says so meanwhile, on terminals alone. */
export function whilePlanning<Result>(screen: Screen, { pods, nodes }: ClusterSnapshot, work: () => Result): Result {
  const isLong = screen.showsProgress && pods.length >= MANY_PODS;
  if (isLong) {
    void screen.writeError(`planning for ${pods.length} pods on ${nodes.length} nodes ...`);
  }
  try {
    return work();
  } finally {
    if (isLong) {
      void screen.writeError(ERASE);
    }
  }
}
