/** What to do instead of the descheduler's plugins that put other things right than uneven load. By name of the plugin. */
export const UNMATCHED_PLUGINS: ReadonlyMap<string, string> = new Map([
  [
    'RemoveDuplicates',
    'pods are moved for load, not because they are replicas on one node: write topologySpreadConstraints over kubernetes.io/hostname into the template, which every move keeps to',
  ],
  [
    'HighNodeUtilization',
    'it packs pods onto few nodes, the opposite of keeping them even: leave that to the cluster autoscaler, or give the two different nodes by scope.nodeSelector',
  ],
  [
    'RemovePodsViolatingTopologySpreadConstraint',
    'moves keep to topologySpreadConstraints, but none is made to restore one',
  ],
  [
    'RemovePodsViolatingInterPodAntiAffinity',
    'moves keep to anti-affinity in both directions, but none is made because a running pod violates it',
  ],
  [
    'RemovePodsViolatingNodeAffinity',
    'moves keep to node affinity, but none is made because a running pod violates it; preferred affinity decides between equal targets',
  ],
  [
    'RemovePodsViolatingNodeTaints',
    'targets are chosen by their taints, but no pod is moved because its own node got one: write a NoExecute taint, which evicts by itself',
  ],
  [
    'RemovePodsHavingTooManyRestarts',
    'restarts are no reason to move a pod: alert on kube_pod_container_status_restarts_total',
  ],
  ['PodLifeTime', 'no pod is evicted for its age: roll the workload out anew from a CronJob'],
  [
    'RemoveFailedPods',
    'failed pods use nothing and are left alone: set podFailurePolicy or ttlSecondsAfterFinished of the Job, or --terminated-pod-gc-threshold',
  ],
  ['ExamplePlugin', 'it is an example and does nothing'],
]);

/** What is true of all of them. */
export const KEEP_ADVICE =
  'keep a descheduler with only this plugin if you need it: both evict through the Eviction API, so that PodDisruptionBudgets hold for the two together';
