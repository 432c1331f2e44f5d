import type { PlacementHint } from '../api/v1alpha1/placement-hint.ts';
import { podsInFlight } from '../execute/journal.ts';
import type { Log, PlanStore, Steering } from '../ports.ts';

/** What hints are swept through. */
export interface HintSweepPorts {
  readonly steering: Pick<Steering, 'list' | 'discard'>;
  readonly plans: Pick<PlanStore, 'get' | 'list'>;
  readonly log: Log;
  /** A hint could not be removed. */
  readonly runFailed: () => void;
}

/**
 * Removes the hints that belong to no move in flight: they are left over from a crash (execution.md, steering). A hint that
 * remains, since rights are missing or a finalizer blocks it, does not block the others. `isOurs` says whether this replica leads what
 * carries out a plan, by the uid of its policy, `undefined` for hints whose plan is gone: whoever does has seen all that it wrote. Resolves to
 * what is wrong, by name of the plan that hints name. Rejects when aborted.
 */
export async function sweepHints(
  { steering, plans, log, runFailed }: HintSweepPorts,
  isOurs: (policy: string | undefined) => boolean,
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
  const known = hints.length === 0 ? [] : await plans.list(signal);
  const inFlight = podsInFlight(known);
  const policyOf = new Map(known.map(({ metadata, spec }) => [metadata.name, spec.policy.uid || undefined]));
  const isStale = async ({ spec }: PlacementHint): Promise<boolean> => {
    const policy = policyOf.get(spec.plan);
    if (inFlight.has(spec.podUID) || !isOurs(policy)) {
      return false;
    }
    return policyOf.has(spec.plan) || (await plans.get(spec.plan, signal)) === undefined;
  };
  for (const hint of await filterInTurn(hints, isStale)) {
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

async function filterInTurn<Item>(
  items: readonly Item[],
  has: (item: Item) => Promise<boolean>,
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (const item of items) {
    if (await has(item)) {
      found.push(item);
    }
  }
  return found;
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
