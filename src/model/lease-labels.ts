/** The label of the Leases that replicas share their work by: it tells what each is for, a replica, a policy, the rest, or decisions. */
export const PURPOSE_LABEL = 'evenkeel.dev/lease';
/** The label of the Lease of a policy with its uid. */
export const POLICY_LABEL = 'evenkeel.dev/policy-uid';
