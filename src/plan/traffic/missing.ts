import type { Application, ComponentIndex } from './application.ts';
import type { Hosts } from './hosts.ts';

/** Why an application cannot be placed. Resources by place, amounts in their units. */
export type Missing =
  /** All hosts together have less free than is demanded. */
  | { readonly kind: 'Resource'; readonly resource: number; readonly demanded: number; readonly free: number }
  /** Components demand at least `each`, and hosts have room for fewer of that size, though they have enough in sum. */
  | {
      readonly kind: 'Pieces';
      readonly resource: number;
      readonly each: number;
      readonly components: number;
      readonly room: number;
    }
  /** No host may take the component, though nothing of the application is placed. */
  | { readonly kind: 'Host'; readonly component: ComponentIndex }
  /** Every way was tried that the limits name; this component found no host most often at the end. */
  | { readonly kind: 'Combination'; readonly component: ComponentIndex }
  /** The limit of steps was reached before a way was found; no way got beyond this component. */
  | { readonly kind: 'Steps'; readonly steps: number; readonly component: ComponentIndex };

/** What can be said without a search, which takes exponential time where there is no way (PHARE's own does). */
export function missingBeforehand(application: Application, hosts: Hosts): Missing | undefined {
  const resources = [...(application.demands[0] ?? [])].keys();
  return (
    [...resources].map((resource) => shortOf(application, hosts, resource)).find(Boolean) ??
    homeless(application, hosts)
  );
}

function shortOf({ demands }: Application, hosts: Hosts, resource: number): Missing | undefined {
  const free = Array.from({ length: hosts.count }, (_, host) => Math.max(0, hosts.free(host)[resource] ?? 0));
  const sizes = demands.map((demand) => demand[resource] ?? 0).sort((left, right) => right - left);
  const [demanded, all] = [sum(sizes), sum(free)];
  if (demanded > all) {
    return { kind: 'Resource', resource, demanded, free: all };
  }
  for (const [place, each] of sizes.entries()) {
    const room = each === 0 ? Number.POSITIVE_INFINITY : sum(free.map((amount) => Math.floor(amount / each)));
    if (room < place + 1) {
      const components = sizes.filter((size) => size >= each).length;
      return { kind: 'Pieces', resource, each, components, room };
    }
  }
  return undefined;
}

function homeless({ demands }: Application, hosts: Hosts): Missing | undefined {
  for (const component of demands.keys()) {
    let host = 0;
    while (host < hosts.count && !hosts.takes(component, host)) {
      host += 1;
    }
    if (host === hosts.count) {
      return { kind: 'Host', component };
    }
  }
  return undefined;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
