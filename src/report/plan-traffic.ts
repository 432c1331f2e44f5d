import { MAX_NAMED_APPLICATIONS, MAX_NAMED_PAIRS, type RebalancePlan } from '../api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicyStatus } from '../api/v1alpha1/rebalance-policy.ts';
import { bitRate } from '../model/bandwidth.ts';
import { formatDecimal } from '../model/decimal.ts';
import { escapeText } from '../model/escape.ts';
import type { DomainTraffic, TrafficAmount, TrafficReport } from '../plan/plan.ts';
import type { Table } from './table.ts';

type TrafficField = NonNullable<RebalancePlan['spec']['traffic']>;

/** What a plan says of the traffic between domains. */
export function trafficSpec({ domain, before, planned, between, applications }: TrafficReport): TrafficField {
  return {
    domain,
    before: amountField(before),
    planned: amountField(planned),
    ...(between.length === 0 ? {} : { between: between.slice(0, MAX_NAMED_PAIRS).map(pairField) }),
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

function pairField({ domains, before, planned }: DomainTraffic): NonNullable<TrafficField['between']>[number] {
  return {
    domains: [...domains],
    before: formatDecimal(Math.round(before)),
    planned: formatDecimal(Math.round(planned)),
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
  { domain, before, planned }: Pick<TrafficReport, 'domain' | 'before' | 'planned'>,
  isOne: boolean,
): string {
  const [from, to] = [bitRate(before.bandwidth), bitRate(planned.bandwidth)];
  const verb = from === to ? 'leave' : planned.bandwidth < before.bandwidth ? 'cut' : 'raise';
  const change = from === to ? `at ${to}` : `from ${from} to ${to}`;
  const cost = costChange(before, planned);
  return `${verb}${isOne ? 's' : ''} traffic between ${domainsText(domain)} ${change}${cost}`;
}

/** `, and the cost from 0.34 to 0.12 an hour`; nothing without prices, or where they do not differ to a cent. */
function costChange(before: TrafficAmount, planned: TrafficAmount): string {
  const [from, to] = [priceText(before), priceText(planned)];
  return before.cost === undefined || from === to ? '' : `, and the cost from ${from} to ${to} an hour`;
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

/** Pairs of domains with traffic between them, before and as planned. */
export function domainRows({ spec: { traffic } }: RebalancePlan): Table {
  const rows = (traffic?.between ?? []).map(({ domains, before, planned }) => [
    domains.join(' and '),
    bitRate(Number(before)),
    bitRate(Number(planned)),
  ]);
  return [['BETWEEN', 'BEFORE', 'PLANNED'], rows];
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
