import { MAX_NAMED_APPLICATIONS, type RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { formatDecimal } from '../model/decimal.ts';
import { escapeText } from '../model/escape.ts';
import type { TrafficAmount, TrafficReport } from '../plan/plan.ts';
import { bitRate } from '../plan/traffic/report.ts';
import type { Table } from './table.ts';

type TrafficField = NonNullable<RebalancePlan['spec']['traffic']>;

/** What a plan says of the traffic between domains. */
export function trafficSpec({ domain, before, planned, applications }: TrafficReport): TrafficField {
  return {
    domain,
    before: amountField(before),
    planned: amountField(planned),
    applications: applications
      .slice(0, MAX_NAMED_APPLICATIONS)
      .map(({ namespace, name, moves, stays, ...amounts }) => ({
        namespace,
        name,
        moves,
        before: amountField(amounts.before),
        planned: amountField(amounts.planned),
        ...(stays === undefined ? {} : { code: stays.code, message: escapeText(stays.message).slice(0, 512) }),
      })),
  };
}

function amountField({ bandwidth, cost }: TrafficAmount): TrafficField['before'] {
  return {
    bandwidth: formatDecimal(Math.round(bandwidth)),
    ...(cost === undefined ? {} : { cost: formatDecimal(cost) }),
  };
}

/** What one move or several do to traffic: `cut traffic between zones from 120 Mb/s to 20 Mb/s`. */
export function trafficChange(
  { domain, before, planned }: Omit<TrafficReport, 'applications'>,
  isOne: boolean,
): string {
  const [from, to] = [bitRate(before.bandwidth), bitRate(planned.bandwidth)];
  const verb = from === to ? 'leave' : planned.bandwidth < before.bandwidth ? 'cut' : 'raise';
  const change = from === to ? `at ${to}` : `from ${from} to ${to}`;
  return `${verb}${isOne ? 's' : ''} traffic between ${domainsText(domain)} ${change}`;
}

const DOMAINS: ReadonlyMap<string, string> = new Map([
  ['topology.kubernetes.io/zone', 'zones'],
  ['topology.kubernetes.io/region', 'regions'],
  ['kubernetes.io/hostname', 'nodes'],
]);

/** What the values of a node label are, in the plural: `zones`. */
export function domainsText(label: string): string {
  return DOMAINS.get(label) ?? `values of ${label}`;
}

/** Applications with traffic between domains: before and as planned, and what keeps those spread that stay. */
export function applicationRows({ spec: { traffic } }: RebalancePlan): Table {
  const priced = traffic?.before.cost !== undefined;
  const header = ['APPLICATION', 'MOVES', 'BEFORE', 'PLANNED', ...(priced ? ['COST/H BEFORE', 'COST/H PLANNED'] : [])];
  const rows = (traffic?.applications ?? []).map(({ namespace, name, moves, before, planned, message = '-' }) => [
    `${namespace}/${name}`,
    String(moves),
    bitRate(Number(before.bandwidth)),
    bitRate(Number(planned.bandwidth)),
    ...(priced ? [priceText(before), priceText(planned)] : []),
    message,
  ]);
  return [[...header, 'STAYS BECAUSE'], rows];
}

/** A cost in two decimals: `0.34`. */
export function priceText({ cost = 0 }: { readonly cost?: string | number | undefined }): string {
  return Number(cost).toFixed(2);
}

/** What the status of a policy says of its newest plan. */
export function trafficSummary({
  spec: { traffic },
}: RebalancePlan): Pick<NonNullable<RebalancePolicyStatus['plan']>, 'traffic'> {
  if (traffic === undefined) {
    return {};
  }
  return {
    traffic: {
      before: traffic.before.bandwidth,
      planned: traffic.planned.bandwidth,
      applications: traffic.applications.filter(({ moves }) => moves > 0).length,
    },
  };
}
