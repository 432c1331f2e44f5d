import { itemAt, numberAt } from '../indices.ts';
import { type ComponentIndex, pairsOf, type Talk } from './application.ts';
import type { HostIndex, Network } from './network.ts';
import type { RunningApplication } from './running.ts';

/** Ways to place an application that are looked through. */
const MOST_WAYS = 20_000;

/** Where an application runs, and what stands against moving it. */
interface Standing {
  readonly homes: readonly HostIndex[];
  readonly hosts: number;
  readonly network: Network;
  /** What a move counts. */
  readonly movePrice: number;
  readonly mayLeave: (component: ComponentIndex) => boolean;
}

/**
 * All placements of a small application that cost less than the one that it has, with what their moves count, the cheapest first;
 * `undefined` where there are more than 20,000 ways to place it.
 */
export function cheaperPlacements(
  { application }: RunningApplication,
  { homes, hosts, network, movePrice, mayLeave }: Standing,
): readonly (readonly HostIndex[])[] | undefined {
  const movable = homes.filter((_, component) => mayLeave(component)).length;
  if (hosts ** movable > MOST_WAYS) {
    return undefined;
  }
  const earlier = talksWithEarlier(application.talks.length, [...pairsOf(application)]);
  const costAt = (component: ComponentIndex, host: HostIndex, placed: readonly HostIndex[]): number =>
    itemAt(earlier, component).reduce(
      (sum, { with: other, bandwidth }) => sum + bandwidth * network.routePrice(numberAt(placed, other), host),
      network.hostPrice(itemAt(application.demands, component), host) + (host === homes[component] ? 0 : movePrice),
    );
  const now = homes.reduce((sum, host, component) => sum + costAt(component, host, homes), 0);
  const found: { readonly placement: readonly HostIndex[]; readonly cost: number }[] = [];
  const placed: HostIndex[] = [];
  const all = Array.from({ length: hosts }, (_, host) => host);
  const go = (component: ComponentIndex, cost: number): void => {
    if (cost >= now) {
      return;
    }
    if (component === homes.length) {
      found.push({ placement: [...placed], cost });
      return;
    }
    for (const host of mayLeave(component) ? all : [numberAt(homes, component)]) {
      placed[component] = host;
      go(component + 1, cost + costAt(component, host, placed));
    }
  };
  go(0, 0);
  return found.sort((left, right) => left.cost - right.cost).map(({ placement }) => placement);
}

/** Per component, its talks with those that come before it. */
function talksWithEarlier(
  components: number,
  pairs: readonly { readonly one: ComponentIndex; readonly other: ComponentIndex; readonly bandwidth: number }[],
): readonly (readonly Talk[])[] {
  const talks = Array.from({ length: components }, (): Talk[] => []);
  for (const { one, other, bandwidth } of pairs) {
    itemAt(talks, other).push({ with: one, bandwidth });
  }
  return talks;
}
