import { itemAt } from '../indices.ts';
import type { Application, ComponentIndex } from './application.ts';

/**
 * What a component and those it talks to demand of a resource, each of the others by its bandwidth beside the largest of the
 * application: z of PHARE's Def. 1, whose text elsewhere divides by the sum.
 */
export function importanceOf(
  application: Application,
  component: ComponentIndex,
  resource: number,
  largest = largestBandwidth(application),
): number {
  const own = itemAt(application.demands, component)[resource] ?? 0;
  return itemAt(application.talks, component).reduce(
    (sum, { with: other, bandwidth }) =>
      sum + (bandwidth / largest) * (itemAt(application.demands, other)[resource] ?? 0),
    own,
  );
}

/** The largest bandwidth between two components; 0 when nobody talks. */
export function largestBandwidth({ talks }: Application): number {
  return talks.flat().reduce((most, { bandwidth }) => Math.max(most, bandwidth), 0);
}

/**
 * The order in which components find a node: those that are pinned first, then by importance, each share of the resource
 * beside what the application demands of it, then by place.
 */
export function orderOf(
  application: Application,
  isPinned: (component: ComponentIndex) => boolean,
): readonly ComponentIndex[] {
  const { demands } = application;
  const largest = largestBandwidth(application);
  const resources = [...(demands[0] ?? [])].keys();
  const totals = [...resources].map((resource) => demands.reduce((sum, demand) => sum + (demand[resource] ?? 0), 0));
  const ranked = demands.map((_, component) => {
    const shares = totals.map((total, resource) =>
      total === 0 ? 0 : importanceOf(application, component, resource, largest) / total,
    );
    return { component, rank: Math.max(0, ...shares), pinned: isPinned(component) ? 0 : 1 };
  });
  return ranked
    .sort((left, right) => left.pinned - right.pinned || right.rank - left.rank || left.component - right.component)
    .map(({ component }) => component);
}
