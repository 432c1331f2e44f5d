import { booleanAt, integerAt, type JsonObject, objectAt, objectsAt, textAt, textsAt } from '../../model/json.ts';
import { changed, type ImportNote, lost, unread } from '../note.ts';
import type { Profile } from './document.ts';
import { durationOf } from './duration.ts';
import { chosenNodes } from './limits.ts';
import { priorityOf } from './priority.ts';
import { about, type Conditions } from './scopes.ts';
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
  /** Of the pods that may be evicted. */
  readonly conditions: Conditions;
  readonly notes: readonly ImportNote[];
}

const NO_THRESHOLD = 2_147_483_647;

/** Arguments of DefaultEvictor, each with what it becomes, or `none`. */
export const EVICTOR_SETTINGS: readonly (readonly [theirs: string, ours: string])[] = [
  ['nodeSelector', 'scope.nodeSelector'],
  ['labelSelector', 'scope.podSelector'],
  ['namespaceLabelSelector', 'scope.namespaceSelector'],
  ['priorityThreshold', 'protections.priorityThreshold'],
  ['evictSystemCriticalPods', 'protections.priorityThreshold'],
  ['minReplicas', 'protections.minReplicas'],
  ['minPodAge', 'protections.minPodAge'],
  ['evictLocalStoragePods', 'protections.localStorage'],
  ['ignorePvcPods', 'protections.pvc'],
  ['ignorePodsWithoutPDB', 'protections.withoutPDB'],
  ['podProtections', 'protections'],
  ['nodeFit', 'none'],
  ['noEvictionPolicy', 'none'],
  ['evictDaemonSetPods', 'none'],
  ['evictFailedBarePods', 'none'],
];
const NAMES = EVICTOR_SETTINGS.map(([theirs]) => theirs);

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
    conditions: [
      ...about('namespace', selectorAt(evictor, 'namespaceLabelSelector', path)),
      ...about('pod', selectorAt(evictor, 'labelSelector', path)),
      ...about('node', nodeSelector === undefined ? [] : expressionsOf(nodeSelector, `${path}.nodeSelector`)),
    ],
    notes: [
      ...unread(evictor, NAMES, path),
      ...(nodeSelector === undefined ? [] : [chosenNodes(`${path}.nodeSelector`)]),
      ...protection.notes,
      ...threshold.notes,
      ...others(evictor, path),
    ],
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
  FailedBarePods: 'pods without a controller are neither moved nor removed: nothing would create them again',
  DaemonSetPods: 'pods of a DaemonSet are never moved, since they would come back to the same node',
};

/** Pods with resource claims are never moved anyway. */
const EXTRA_PROTECTIONS = ['PodsWithPVC', 'PodsWithoutPDB', 'PodsWithResourceClaims'];

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
      ...extra.flatMap((name, index) =>
        EXTRA_PROTECTIONS.includes(name)
          ? []
          : [lost(`${at}.extraEnabled[${index}]`, `${name} is no protection that is known here`)],
      ),
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
  const { value, unknown } = priorityOf(threshold, at);
  const notes = unread(threshold, ['value', 'name'], at);
  if (unknown === undefined) {
    return { value, notes };
  }
  const advice = `the value of PriorityClass ${unknown} is only known to the cluster: write what kubectl get priorityclass ${unknown} prints as protections.priorityThreshold, which is 0 until then so that no pod of priority 0 or higher moves`;
  return { value, notes: [...notes, changed(`${at}.name`, advice)] };
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
