import type { EpochSeconds } from '../model/units.ts';
import type { ServiceReport } from '../plan/service-report.ts';
import type { Clock, StartCron, StoredPolicy } from '../ports.ts';
import type { Verdicts } from '../report/conditions.ts';
import { type Sampling, samplingFor } from './sampling.ts';
import { type PolicySchedule, scheduleOf } from './schedule.ts';
import type { ChosenSteering } from './steering.ts';

/** What the loop remembers of a policy between passes; losing it costs at most one run. */
export interface Remembered {
  readonly generation: number;
  readonly schedule: PolicySchedule;
  /** News of the demand that the last run knew of which came to a plan. */
  demand: number;
  /** Pods whose moves were under way at that run. */
  underWay: ReadonlySet<string>;
  /** When the last run began that was not postponed; the status only reports runs with news. `undefined` before the first one. */
  ranAt: EpochSeconds | undefined;
  /** The request that the last run answered; `undefined` before the first one: then the status says it. */
  request: string | undefined;
  /** When it is due again at the latest, since ledgers of pods that wait were not kept yet, or a node is kept from them; else `undefined`. */
  againAt: EpochSeconds | undefined;
  /** Whether the last run was postponed. */
  isPostponed: boolean;
  /** No run before this: a moment after the last one, and longer after one that was postponed or failed. */
  notBefore: EpochSeconds | undefined;
  /** What the last run found of older policies in the same scope. */
  overlap: string | undefined;
  /** Usage, where it is smoothed. */
  readonly sampling: Sampling | undefined;
  /** What the last run found of service; `undefined` before the first one. */
  services: ServiceReport | undefined;
  /** What the last run found of steering; `undefined` before the first one. */
  steering: ChosenSteering | undefined;
  /** Why old plans are still there: they are removed after the status is written, so the next one says it. */
  removal: Verdicts;
}

/** Memory of all policies, by uid. Owns their timers. */
export interface PolicyMemory {
  /** Makes, or makes anew after an edit, what is remembered of a policy with a valid schedule. */
  of(stored: StoredPolicy): Remembered;
  /** Forgets policies that are gone. */
  keepOnly(policies: readonly StoredPolicy[]): void;
  clear(): void;
}

/** An empty memory; `wake` is called when a cron expression fires. */
export function createPolicyMemory(
  wake: () => void,
  { clock, startCron }: { readonly clock: Pick<Clock, 'now'>; readonly startCron: StartCron },
): PolicyMemory {
  const known = new Map<string, Remembered>();
  const forget = (uid: string): void => {
    known.get(uid)?.schedule.stop();
    known.delete(uid);
  };
  return {
    of({ policy: { metadata, spec } }) {
      const { uid = metadata.name, generation = 0 } = metadata;
      const old = known.get(uid);
      if (old?.generation === generation) {
        return old;
      }
      forget(uid);
      const fresh = {
        generation,
        schedule: scheduleOf(spec, startCron, wake),
        demand: 0,
        underWay: new Set<string>(),
        ranAt: undefined,
        request: undefined,
        againAt: undefined,
        isPostponed: false,
        notBefore: undefined,
        overlap: undefined,
        sampling: samplingFor(spec, old?.sampling, clock.now()),
        services: undefined,
        removal: old?.removal ?? {},
        steering: undefined,
      };
      known.set(uid, fresh);
      return fresh;
    },
    keepOnly(policies) {
      const alive = new Set(policies.map(({ policy }) => policy.metadata.uid));
      for (const uid of known.keys()) {
        if (!alive.has(uid)) {
          forget(uid);
        }
      }
    },
    clear() {
      for (const uid of known.keys()) {
        forget(uid);
      }
    },
  };
}
