import type { NodeInfo } from '../../model/node.ts';
import type { DomainIndex, IndexTable, SiteIndex } from '../indices.ts';

/** The domains of one topology key: the sets of nodes that carry the same value of that label. */
export interface Domains {
  readonly key: string;
  /** Place of the domain by place of the node; -1 for nodes without the label. */
  readonly of: IndexTable<SiteIndex, DomainIndex>;
  /** Label values by place of the domain. */
  readonly values: readonly string[];
}

/** Looks domains up by topology key, indexed on first use. */
export function createDomainIndex(nodes: readonly NodeInfo[]): (key: string) => Domains {
  const known = new Map<string, Domains>();
  return (key) => {
    const domains = known.get(key) ?? indexDomains(nodes, key);
    known.set(key, domains);
    return domains;
  };
}

function indexDomains(nodes: readonly NodeInfo[], key: string): Domains {
  const places = new Map<string, number>();
  const of = Int32Array.from(nodes, ({ labels }) => {
    const value = labels.get(key);
    if (value === undefined) {
      return -1;
    }
    const place = places.get(value) ?? places.size;
    places.set(value, place);
    return place;
  });
  return { key, of, values: [...places.keys()] };
}
