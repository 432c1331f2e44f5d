/** Name of the container of the operator, in deploy/ and in the chart. */
export const OPERATOR_CONTAINER = 'operator';

/** The name of a replica among all that ever were: its pod, and what tells the processes in it apart. */
export function replicaIdentity(pod: string, unique: string): string {
  return `${pod}_${unique}`;
}

/** The part of an identity that people know: the name of the pod. */
export function replicaName(identity: string): string {
  return identity.split('_')[0] ?? identity;
}
