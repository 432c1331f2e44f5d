import { amountOf, type LoadResource } from '../../model/resources.ts';
import { matches } from '../../model/selector.ts';
import type { Cluster } from '../cluster.ts';
import { itemAt } from '../indices.ts';
import type { NodePrice } from '../options.ts';
import type { DomainPrice, TrafficDomains } from './domains.ts';

/**
 * What it costs to run in each domain: the mean of its nodes, each as much as it has to allocate, since a pod goes to whichever has the
 * least load. The first price whose selector matches a node is its own. Empty without prices.
 */
export function domainPrices(
  { nodes }: Cluster,
  domains: TrafficDomains,
  prices: readonly NodePrice[],
): readonly DomainPrice[] {
  if (prices.length === 0) {
    return [];
  }
  const priceOf = nodes.map(({ labels }) => prices.find(({ nodeSelector }) => matches(nodeSelector, labels)));
  return domains.nodes.map((own) => {
    const mean = (resource: LoadResource, of: (price: NodePrice) => number): number => {
      let [paid, total] = [0, 0];
      for (const node of own) {
        const amount = amountOf(itemAt(nodes, node).allocatable, resource);
        const price = priceOf[node];
        paid += amount * (price === undefined ? 0 : of(price));
        total += amount;
      }
      return total === 0 ? 0 : paid / total;
    };
    return { cpu: mean('cpu', ({ cpuHour }) => cpuHour), memory: mean('memory', ({ memoryGiBHour }) => memoryGiBHour) };
  });
}
