import type { MetricsFault } from './kinds.ts';

interface Item {
  readonly timestamp?: string;
  readonly usage?: Readonly<Record<string, string>>;
  readonly containers?: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}

const AN_HOUR = 3_600_000;

/** The JSON text of a list of NodeMetrics or PodMetrics with every sample spoiled; other text comes back as it is. */
export function spoilMetrics(text: string, fault: MetricsFault): string {
  const list = JSON.parse(text) as { readonly items?: readonly Item[] };
  if (list.items === undefined) {
    return text;
  }
  return JSON.stringify({
    ...list,
    items: fault === 'MissingMetrics' ? [] : list.items.map((item) => spoil(item, fault)),
  });
}

function spoil(item: Item, fault: Exclude<MetricsFault, 'MissingMetrics'>): Item {
  switch (fault) {
    case 'StaleMetrics':
      return { ...item, timestamp: new Date(Date.parse(item.timestamp ?? '') - AN_HOUR).toISOString() };
    case 'NotANumberMetrics':
      return withUsage(item, () => 'NaN');
    case 'NegativeMetrics':
      return withUsage(item, (quantity) => `-${quantity}`);
    default:
      return fault satisfies never;
  }
}

function withUsage({ usage, containers, ...item }: Item, change: (quantity: string) => string): Item {
  const changed = (quantities: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, change(quantity)]));
  return {
    ...item,
    ...(usage === undefined ? {} : { usage: changed(usage) }),
    ...(containers === undefined
      ? {}
      : { containers: containers.map((container) => ({ ...container, usage: changed(container.usage) })) }),
  };
}
