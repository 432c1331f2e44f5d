/** What the scheduler writes into condition PodScheduled, by the filter that says so (ErrReason of the plugins, 1.33 to 1.37). */
const REASONS: readonly (readonly [string, RegExp])[] = [
  ['NodeUnschedulable', /node\(s\) were unschedulable/],
  ['NodeName', /didn't match the requested node name/],
  ['TaintToleration', /had untolerated taint/],
  ['NodeAffinity', /didn't match Pod's node affinity\/selector/],
  ['NodePorts', /didn't have free ports/],
  ['NodeResourcesFit', /Insufficient |Too many pods/],
  ['VolumeRestrictions', /ReadWriteOncePod access mode|had no available disk/],
  ['NodeVolumeLimits', /exceed max volume count|CSI driver is not installed on the node/],
  [
    'VolumeBinding',
    /PersistentVolume's node affinity|available persistent volumes to bind|unbound immediate|bound to non-existent|persistentvolumeclaim ".*" (not found|is being deleted|bound to non-existent)|waiting for ephemeral volume controller/,
  ],
  ['VolumeZone', /no available volume zone/],
  ['PodTopologySpread', /pod topology spread constraints/],
  ['InterPodAffinity', /pod affinity rules|anti-affinity rules/],
];

/** The filters that a message of the scheduler names, each once. */
export function filtersIn(message: string): readonly string[] {
  return REASONS.filter(([, pattern]) => pattern.test(message)).map(([filter]) => filter);
}

/** The scheduler will look again by itself: a controller has yet to do its part, or its own cache (until 1.34) to be filled. */
export function isProvisional(message: string): boolean {
  return /waiting for ephemeral volume controller|could not find v1\.PersistentVolumeClaim/.test(message);
}
