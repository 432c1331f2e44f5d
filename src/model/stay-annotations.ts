/**
 * Annotations with which a pod asks to stay, and the values that ask for it; the first that does is reported. A bare or
 * unreadable value asks, too: staying harms less. Snapshots keep these annotations of a pod, and no other.
 */
export const STAY_ANNOTATIONS: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['evenkeel.dev/do-not-evict', (value: string) => value !== 'false'],
  ['karpenter.sh/do-not-disrupt', (value: string) => value !== 'false'],
  ['cluster-autoscaler.kubernetes.io/safe-to-evict', (value: string) => value !== 'true'],
  // The descheduler looks at the key alone.
  ['descheduler.alpha.kubernetes.io/prefer-no-eviction', () => true],
]);
