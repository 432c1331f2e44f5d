import { MAX_SERVICE_CLASSES, type RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { formatDecimal } from '../model/decimal.ts';
import type { ServiceLedger } from '../model/service-level.ts';
import { amount, count, percent } from '../plan/format.ts';
import type { ClassReport, ServiceReport } from '../plan/service-report.ts';
import type { Verdict } from './conditions.ts';

/** Workloads that a message names. */
const MOST_NAMES = 5;

type ServiceFields = Pick<RebalancePolicyStatus, 'serviceClasses' | 'sloMissed'>;
type ServiceClassStatus = NonNullable<RebalancePolicyStatus['serviceClasses']>[number];

/** Fields of a policy's status; none where no workload in scope has a ledger. The least important classes are left out. */
export function serviceFields({ classes }: Pick<ServiceReport, 'classes'>): ServiceFields {
  return classes.length === 0
    ? {}
    : {
        serviceClasses: classes.slice(0, MAX_SERVICE_CLASSES).map(classStatus),
        sloMissed: classes.reduce((sum, { missed }) => sum + missed, 0),
      };
}

function classStatus({
  serviceClass,
  requests,
  missed,
  availability,
  availabilityOverWindow,
  worst,
  least,
  gini,
  penalty,
  waiting,
  longestWait,
  preemptions,
}: ClassReport): ServiceClassStatus {
  return {
    name: serviceClass.name,
    slo: formatDecimal(serviceClass.slo),
    workloads: requests,
    fulfilment: formatDecimal(1 - missed / requests),
    ...(availability === undefined ? {} : { availability: formatDecimal(availability) }),
    ...(availabilityOverWindow === undefined ? {} : { availabilityOverWindow: formatDecimal(availabilityOverWindow) }),
    worstDeficit: formatDecimal(worst?.deficit ?? 0),
    ...(worst === undefined ? {} : { worstWorkload: nameOf(worst.ledger) }),
    ...(least === undefined ? {} : { minAvailability: formatDecimal(least) }),
    gini: formatDecimal(gini),
    penalty: formatDecimal(penalty),
    waiting,
    longestWaitSeconds: Math.round(longestWait),
    preemptions,
  };
}

function nameOf({ namespace, owner }: ServiceLedger): string {
  return `${owner.kind} ${namespace}/${owner.name}`;
}

/**
 * Condition LedgerFresh: whether it is known what the workloads in scope got. `trouble` is why ledgers are not kept at all,
 * `undefined` while they are.
 */
export function ledgerVerdict(
  { classes, unkept, unknownClasses }: ServiceReport,
  trouble: string | undefined,
): Verdict {
  const kept = classes.reduce((sum, { requests }) => sum + requests, 0);
  const all = kept + unkept.length;
  if (all === 0 && unknownClasses.length === 0) {
    return { status: 'True', reason: 'NotNeeded', message: 'no pod in scope has a ServiceClass' };
  }
  if (all > 0 && trouble !== undefined) {
    return { status: 'False', reason: 'LedgersUnavailable', message: `ledgers are not kept: ${trouble}` };
  }
  const unknown =
    unknownClasses.length === 0 ? [] : [`there is no ServiceClass ${listed(unknownClasses)}, which pods name`];
  if (unkept.length > 0) {
    const missing = `no valid ledger for ${unkept.length} of ${count(all, 'workload')}: ${listed(unkept)}`;
    return { status: 'False', reason: 'LedgersIncomplete', message: [missing, ...unknown].join('; ') };
  }
  return unknown.length === 0
    ? { status: 'True', reason: 'Fresh', message: `${count(all, 'workload')} with a ledger` }
    : { status: 'False', reason: 'UnknownServiceClass', message: unknown.join() };
}

/** Condition Oversold: whether more was promised than there is, how much, and what would have to give. */
export function oversoldVerdict({ oversold }: Pick<ServiceReport, 'oversold'>): Verdict {
  if (oversold === undefined) {
    return { status: 'False', reason: 'AsExpected', message: 'the nodes have room for all that was promised' };
  }
  const { resource, promised, capacity, givingWay } = oversold;
  const missing = amount(resource, promised - capacity);
  const share = capacity > 0 ? ` (${percent(promised / capacity)})` : '';
  const much = `${amount(resource, promised)} were promised, the nodes have ${amount(resource, Math.max(0, capacity))}${share}`;
  const what = `by importance ${listed(givingWay)} ${givingWay.length === 1 ? 'gives' : 'give'} way`;
  const message = `${much}; ${what}: add nodes with ${missing}, or lower spec.slo or the replicas there`;
  return { status: 'True', reason: 'PromisesExceedCapacity', message };
}

/** `a, b and 3 more`. */
function listed(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).join(', ');
  return names.length <= MOST_NAMES ? shown : `${shown} and ${names.length - MOST_NAMES} more`;
}
