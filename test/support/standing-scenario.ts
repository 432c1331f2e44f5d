import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { seconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import type { ProjectedPdb } from '../../src/observe/project/pdb.ts';
import { DEFAULT_TIMING } from '../../src/simulate/parts.ts';
import type { Delay, Scenario, Timing, WorkloadSpec } from '../../src/simulate/scenario.ts';
import { snapshotWorkloads } from '../../src/simulate/snapshot-workloads.ts';
import { aPodOf, aSnapshot, selecting } from './builders.ts';
import { aScenario } from './scenarios.ts';
import { NOON } from './test-clock.ts';

/** Delays in seconds; Infinity means never. */
export interface Delays {
  /** From the eviction until the pod is gone. */
  grace: number;
  /** From the eviction until its controller makes another pod; a StatefulSet waits for `grace` as well. */
  recreate: number;
  /** From there until it is bound. */
  bind: number;
  /** From there until it is Ready, unless \`startup\` says so for each pod anew. */
  ready: number;
  startup?: Delay | undefined;
}

/** What tests set of a modelled cluster, at any time. */
export interface Settings {
  readonly delays: Delays;
  /** Pods of an owner, by uid, that its PDB keeps available. */
  readonly minAvailable: Map<string, number>;
  /** Owners, by uid, whose new pods carry our gate. */
  readonly gated: Set<string>;
}

/** A scenario in which these objects stand from the beginning, and that goes by `settings` as they are at each moment. */
export function standingScenario(
  settings: Settings,
  nodes: readonly NodeInfo[],
  workloads: readonly WorkloadInfo[],
  pods: readonly PodInfo[],
): Scenario {
  const scenario = aScenario({
    start: NOON,
    nodes,
    workloads: specsOf(settings, workloads, pods),
    namespaces: new Map([['shop', new Map()]]),
    timing: timingOf(settings.delays),
  });
  return {
    ...scenario,
    get pdbs() {
      return workloads.flatMap((workload) => pdbOf(workload, settings.minAvailable.get(workload.uid)));
    },
  };
}

/** Workloads that ask for no more pods than those that stand; pods that no workload is known of are not made again. */
export function specsOf(
  { gated }: Settings,
  workloads: readonly WorkloadInfo[],
  pods: readonly PodInfo[],
): readonly WorkloadSpec[] {
  return snapshotWorkloads(aSnapshot({ workloads, pods, usage: undefined })).map((spec) => ({
    ...spec,
    info: { ...spec.info, replicas: spec.standing.length },
    template: {
      ...spec.template,
      get waiting() {
        return { gated: gated.has(spec.info.uid), pinnedTo: undefined, unschedulable: false };
      },
    },
  }));
}

/** A workload that has no pods yet. */
export function bareSpecs(settings: Settings, workload: WorkloadInfo): readonly WorkloadSpec[] {
  const [spec] = specsOf(settings, [workload], [aPodOf(workload, workload.name, '')]);
  return spec === undefined ? [] : [{ ...spec, info: { ...spec.info, replicas: 0 }, standing: [] }];
}

function timingOf(delays: Delays): Timing {
  const fixed = (value: number): Timing['termination'] => ({ kind: 'Fixed', value: seconds(value) });
  return {
    ...DEFAULT_TIMING,
    get startup() {
      const startup = delays.startup ?? fixed(delays.ready);
      return { hot: startup, cold: startup };
    },
    get termination() {
      return fixed(delays.grace);
    },
    get recreation() {
      return seconds(delays.recreate);
    },
    get scheduling() {
      return seconds(delays.bind);
    },
  };
}

function pdbOf({ namespace, name }: WorkloadInfo, count: number | undefined): readonly ProjectedPdb[] {
  if (count === undefined) {
    return [];
  }
  const selector = selecting({ app: name });
  const status = { disruptionsAllowed: undefined, health: undefined, alwaysAllowsUnready: false };
  return [{ namespace, name: `keep-${name}`, selector, ...status, minAvailable: { count }, maxUnavailable: undefined }];
}
