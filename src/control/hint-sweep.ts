import type { PlacementHint } from '../api/v1alpha1/placement-hint.ts';
import { podsInFlight } from '../execute/journal.ts';
import type { Log, PlanStore, Steering } from '../ports.ts';

/** What hints are swept through. */
export interface HintSweepPorts {
  readonly steering: Pick<Steering, 'list' | 'discard'>;
  readonly plans: Pick<PlanStore, 'list'>;
  readonly log: Log;
  /** A hint could not be removed. */
  readonly runFailed: () => void;
}

/**
 * Removes the hints that belong to no move in flight: they are left over from a crash (execution.md, steering). A hint that
 * remains, since rights are missing or a finalizer blocks it, does not block the others. Resolves to what is wrong, by name of the
 * plan that hints name. Rejects when aborted.
 */
export async function sweepHints(
  { steering, plans, log, runFailed }: HintSweepPorts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  const failed = (): void => {
    signal.throwIfAborted();
    runFailed();
  };
  const hints = await steering.list(signal).catch((err: unknown) => {
    failed();
    log('hints not listed', { err });
    return [];
  });
  // After the hints: moves go on meanwhile, and an intent is stored before its hint is placed.
  const inFlight = podsInFlight(await plans.list(signal));
  for (const hint of hints.filter(({ spec }) => !inFlight.has(spec.podUID))) {
    const problem = await discard(hint, steering, signal);
    if (problem !== undefined) {
      failed();
      const name = `${hint.metadata.namespace}/${hint.metadata.name}`;
      log('hint remains', { hint: name, problem });
      problems.set(hint.spec.plan, `PlacementHint ${name} remains and goes on steering pods: ${problem}`);
    }
  }
  return problems;
}

async function discard(
  hint: PlacementHint,
  steering: HintSweepPorts['steering'],
  signal: AbortSignal,
): Promise<string | undefined> {
  const { deletionTimestamp, finalizers = [] } = hint.metadata;
  if (deletionTimestamp !== undefined) {
    return `its deletion began at ${String(deletionTimestamp)} and waits for ${finalizers.join(', ')}`;
  }
  try {
    await steering.discard(hint, signal);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
