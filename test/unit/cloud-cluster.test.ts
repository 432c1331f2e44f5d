import { describe, expect, it } from 'vitest';
import { cloudCluster } from '../cloud-cluster/objects.ts';

interface Item {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly usage?: { readonly cpu: string };
  readonly spec?: { readonly nodeName?: string };
}

function itemsOf(nodes: number, kind: string): readonly Item[] {
  return (cloudCluster(nodes)['items'] as readonly Item[]).filter((item) => item.kind === kind);
}

describe.each([8, 300])('the example cluster of %i nodes', (size) => {
  it('has nodes that clouds would name, in three zones, and every pod on one of them', () => {
    const nodes = itemsOf(size, 'Node');
    const names = new Set(nodes.map(({ metadata }) => metadata.name));
    expect(names.size).toBe(size);
    expect([...names].every((name) => /^ip-10-0-\d+-\d+\.eu-central-1\.compute\.internal$/.test(name))).toBe(true);
    expect(new Set(nodes.map(({ metadata }) => metadata.labels?.['topology.kubernetes.io/zone'])).size).toBe(3);
    expect(itemsOf(size, 'Pod').every(({ spec }) => names.has(spec?.nodeName ?? ''))).toBe(true);
  });

  it('has no node that uses more than it has', () => {
    const used = itemsOf(size, 'NodeMetrics').map(({ usage }) => Number.parseInt(usage?.cpu ?? '', 10));
    expect(Math.max(...used)).toBeLessThanOrEqual(7910);
    expect(Math.max(...used)).toBeGreaterThan(4 * Math.min(...used));
  });

  it('is the same for the same seed, and another for another', () => {
    expect(cloudCluster(size)).toEqual(cloudCluster(size));
    expect(cloudCluster(size, 8)).not.toEqual(cloudCluster(size));
  });
});
