/**
 * Annotations with which a pod asks to stay, and the values that ask for it; the first that does is reported. A bare or
 * unreadable value asks, too: staying harms less.
 */
export const STAY_ANNOTATIONS: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['evenkeel.dev/do-not-evict', (value: string) => value !== 'false'],
  ['karpenter.sh/do-not-disrupt', (value: string) => value !== 'false'],
  ['cluster-autoscaler.kubernetes.io/safe-to-evict', (value: string) => value !== 'true'],
  // The descheduler looks at the key alone.
  ['descheduler.alpha.kubernetes.io/prefer-no-eviction', () => true],
]);

/** The annotation with which a pod's owner allows its eviction where a policy would be careful; any value but `false` does. */
const EVICT_ANNOTATION = 'descheduler.alpha.kubernetes.io/evict';

/** The annotations that snapshots keep of a pod as they are, in order. */
export const KEPT_ANNOTATIONS: readonly string[] = [...STAY_ANNOTATIONS.keys(), EVICT_ANNOTATION].sort();

/** Whether the pod's owner allows its eviction where a policy would be careful. */
export function mayBeEvicted(annotations: ReadonlyMap<string, string>): boolean {
  return (annotations.get(EVICT_ANNOTATION) ?? 'false') !== 'false';
}
