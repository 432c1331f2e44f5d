import type { LabelSelectorField } from '../../api/v1alpha1/schema.ts';
import { booleanAt, integerAt, type JsonObject, objectAt, objectsAt, textAt, textsAt } from '../../model/json.ts';
import { changed, type ImportNote, lost, unread } from '../note.ts';
import type { Profile } from './document.ts';
import { durationOf } from './duration.ts';
import { expressionsOf, selectorAt } from './selectors.ts';

/** What DefaultEvictor protects, as a RebalancePolicy says it. */
export interface Protected {
  readonly protections: {
    readonly minPodAge: string;
    readonly minReplicas: number;
    readonly priorityThreshold: number;
    readonly localStorage: 'Protect' | 'Allow';
    readonly pvc?: 'Protect';
    readonly protectedStorageClasses?: readonly string[];
    readonly withoutPDB?: 'Protect';
  };
  readonly podSelector: LabelSelectorField | undefined;
  readonly namespaceSelector: LabelSelectorField | undefined;
  readonly nodeExpressions: NonNullable<LabelSelectorField['matchExpressions']>;
  readonly notes: readonly ImportNote[];
}

/** Values of the PriorityClasses that every cluster has (k8s.io/kubernetes pkg/apis/scheduling). */
const BUILT_IN_PRIORITIES: ReadonlyMap<string, number> = new Map([
  ['system-cluster-critical', 2_000_000_000],
  ['system-node-critical', 2_000_001_000],
]);
/** From which priority on the descheduler leaves pods alone unless it is told otherwise. */
const USUAL_THRESHOLD = 2_000_000_000;
const NO_THRESHOLD = 2_147_483_647;

const SETTINGS = [
  'nodeSelector',
  'evictLocalStoragePods',
  'evictDaemonSetPods',
  'evictSystemCriticalPods',
  'ignorePvcPods',
  'ignorePodsWithoutPDB',
  'evictFailedBarePods',
  'labelSelector',
  'namespaceLabelSelector',
  'priorityThreshold',
  'nodeFit',
  'minReplicas',
  'minPodAge',
  'noEvictionPolicy',
  'podProtections',
];

/** Converts the arguments of DefaultEvictor. What the descheduler takes for granted is written out, so that nothing changes in silence. */
export function convertEvictor({ evictor, evictorPath: path }: Profile): Protected {
  const protection = podProtections(evictor, path);
  const threshold = thresholdOf(evictor, path, protection.critical);
  const nodeSelector = textAt(evictor, 'nodeSelector', path);
  return {
    protections: {
      minPodAge: durationOf(textAt(evictor, 'minPodAge', path) ?? '0s'),
      minReplicas: Math.max(1, integerAt(evictor, 'minReplicas', path) ?? 1),
      priorityThreshold: threshold.value,
      localStorage: protection.localStorage ? 'Allow' : 'Protect',
      ...claims(protection),
      ...(protection.withoutPDB ? { withoutPDB: 'Protect' } : {}),
    },
    podSelector: selectorAt(evictor, 'labelSelector', path),
    namespaceSelector: selectorAt(evictor, 'namespaceLabelSelector', path),
    nodeExpressions: nodeSelector === undefined ? [] : expressionsOf(nodeSelector, `${path}.nodeSelector`),
    notes: [...unread(evictor, SETTINGS, path), ...protection.notes, ...threshold.notes, ...others(evictor, path)],
  };
}

function claims({ pvc, storageClasses }: PodProtections): Partial<Protected['protections']> {
  if (storageClasses.length > 0) {
    return { protectedStorageClasses: storageClasses };
  }
  return pvc ? { pvc: 'Protect' } : {};
}

interface PodProtections {
  readonly localStorage: boolean;
  readonly pvc: boolean;
  /** Those of which claims protect; empty: all. */
  readonly storageClasses: readonly string[];
  readonly withoutPDB: boolean;
  readonly critical: boolean;
  readonly notes: readonly ImportNote[];
}

const WITHOUT_COUNTERPART: Readonly<Record<string, string>> = {
  FailedBarePods: 'pods without a controller are never moved, since nobody would make them anew',
  DaemonSetPods: 'pods of a DaemonSet are never moved, since they would come back to the same node',
};

/** Both ways of saying what is protected: booleans of its own, and podProtections since 0.34. */
function podProtections(evictor: JsonObject, path: string): PodProtections {
  const protections = objectAt(evictor, 'podProtections', path) ?? {};
  const at = `${path}.podProtections`;
  const disabled = textsAt(protections, 'defaultDisabled', at);
  const extra = textsAt(protections, 'extraEnabled', at);
  const flag = (key: string) => booleanAt(evictor, key, path);
  const without = (name: string, where: string): ImportNote[] => {
    const message = WITHOUT_COUNTERPART[name];
    return message === undefined ? [] : [lost(where, message)];
  };
  return {
    localStorage: flag('evictLocalStoragePods') || disabled.includes('PodsWithLocalStorage'),
    critical: flag('evictSystemCriticalPods') || disabled.includes('SystemCriticalPods'),
    pvc: flag('ignorePvcPods') || extra.includes('PodsWithPVC'),
    storageClasses: extra.includes('PodsWithPVC') ? protectedClasses(protections, at) : [],
    withoutPDB: flag('ignorePodsWithoutPDB') || extra.includes('PodsWithoutPDB'),
    notes: [
      ...unread(protections, ['defaultDisabled', 'extraEnabled', 'config'], at),
      ...(flag('evictFailedBarePods') ? without('FailedBarePods', `${path}.evictFailedBarePods`) : []),
      ...(flag('evictDaemonSetPods') ? without('DaemonSetPods', `${path}.evictDaemonSetPods`) : []),
      ...disabled.flatMap((name, index) => without(name, `${at}.defaultDisabled[${index}]`)),
    ],
  };
}

function protectedClasses(protections: JsonObject, path: string): readonly string[] {
  const config = objectAt(objectAt(protections, 'config', path) ?? {}, 'PodsWithPVC', `${path}.config`) ?? {};
  const at = `${path}.config.PodsWithPVC`;
  return objectsAt(config, 'protectedStorageClasses', at).flatMap(
    (each, index) => textAt(each, 'name', `${at}.protectedStorageClasses[${index}]`) ?? [],
  );
}

function thresholdOf(
  evictor: JsonObject,
  path: string,
  critical: boolean,
): { readonly value: number; readonly notes: readonly ImportNote[] } {
  if (critical) {
    const message =
      'pods of every lower priority may be moved, but those of system-critical priority (2000000000 and higher), in kube-system and of the operator itself never are';
    return { value: NO_THRESHOLD, notes: [changed(`${path}.evictSystemCriticalPods`, message)] };
  }
  const threshold = objectAt(evictor, 'priorityThreshold', path) ?? {};
  const at = `${path}.priorityThreshold`;
  const value = integerAt(threshold, 'value', at);
  const name = textAt(threshold, 'name', at);
  const notes = unread(threshold, ['value', 'name'], at);
  if (value !== undefined || name === undefined) {
    return { value: value ?? USUAL_THRESHOLD, notes };
  }
  const builtIn = BUILT_IN_PRIORITIES.get(name);
  const advice = `the value of PriorityClass ${name} is only known to the cluster: write what kubectl get priorityclass ${name} prints as protections.priorityThreshold, which is 0 until then so that no pod of priority 0 or higher moves`;
  return builtIn === undefined
    ? { value: 0, notes: [...notes, changed(`${at}.name`, advice)] }
    : { value: builtIn, notes };
}

function others(evictor: JsonObject, path: string): readonly ImportNote[] {
  const policy = textAt(evictor, 'noEvictionPolicy', path);
  return [
    evictor['nodeFit'] === true
      ? []
      : [
          changed(
            `${path}.nodeFit`,
            'is not true: there, a pod is evicted whether or not another node can take it; here, only when one can by all rules of the scheduler',
          ),
        ],
    policy !== 'Mandatory'
      ? [
          changed(
            `${path}.noEvictionPolicy`,
            'a pod with the annotation descheduler.alpha.kubernetes.io/prefer-no-eviction is never moved: that is Mandatory',
          ),
        ]
      : [],
  ].flat();
}
