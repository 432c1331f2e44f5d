import { CONDITION_FIELDS, type FieldMask, withAnnotations } from '../fields.ts';
import { POD_ANNOTATIONS } from './pod.ts';

const RESOURCES: FieldMask = { requests: true, limits: true };
const CONTAINERS: FieldMask = [
  {
    name: true,
    image: true,
    restartPolicy: true,
    restartPolicyRules: [{ action: true }],
    resources: RESOURCES,
    ports: [{ containerPort: true, hostPort: true, hostIP: true, protocol: true }],
  },
];
const CONTAINER_STATUSES: FieldMask = [{ name: true, allocatedResources: true, resources: { requests: true } }];
const AFFINITY: FieldMask = {
  requiredDuringSchedulingIgnoredDuringExecution: true,
  preferredDuringSchedulingIgnoredDuringExecution: true,
};
/** What plans read of a Pod, and of its volumes what `relevantVolumes` leaves. */
export const POD_FIELDS: FieldMask = {
  metadata: withAnnotations(POD_ANNOTATIONS),
  spec: {
    nodeName: true,
    schedulerName: true,
    priority: true,
    priorityClassName: true,
    nodeSelector: true,
    affinity: { nodeAffinity: AFFINITY, podAffinity: AFFINITY, podAntiAffinity: AFFINITY },
    tolerations: true,
    topologySpreadConstraints: true,
    hostNetwork: true,
    hostUsers: true,
    overhead: true,
    resources: RESOURCES,
    schedulingGates: true,
    schedulingGroup: true,
    workloadRef: true,
    resourceClaims: [{ name: true }],
    os: { name: true },
    volumes: true,
    containers: CONTAINERS,
    initContainers: CONTAINERS,
  },
  status: {
    phase: true,
    nominatedNodeName: true,
    conditions: CONDITION_FIELDS,
    resources: { requests: true },
    allocatedResources: true,
    containerStatuses: CONTAINER_STATUSES,
    initContainerStatuses: CONTAINER_STATUSES,
  },
};
