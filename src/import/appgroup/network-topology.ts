import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { bandwidthText } from '../../model/bandwidth.ts';
import { formatDecimal } from '../../model/decimal.ts';
import { integerAt, type JsonObject, MalformedField, nameAt, objectAt, objectsAt } from '../../model/json.ts';
import { type Conversion, changed, type ImportNote, lost, unread } from '../note.ts';
import { bandwidthAt } from './bandwidth-at.ts';

const ZONE = 'topology.kubernetes.io/zone';
/** The highest price of a GiB that a policy takes. */
const HIGHEST_PRICE = 1000;

/** What an entry of costList says. */
interface Cost {
  readonly path: string;
  readonly between: readonly [string, string];
  /** `undefined`: not written. */
  readonly networkCost: number | undefined;
  /** Bits per second; `undefined`: no limit. */
  readonly capacity: number | undefined;
}

/** A topology key with its costs. */
interface Topology {
  readonly key: string;
  readonly path: string;
  readonly entry: JsonObject;
}

/** A RebalancePolicy in mode DryRun for a NetworkTopology, whose fields have `prefix` before them. Throws MalformedField. */
export function convertNetworkTopology(resource: JsonObject, prefix: string): Conversion {
  const metadata = objectAt(resource, 'metadata', prefix) ?? {};
  const spec = objectAt(resource, 'spec', prefix) ?? {};
  const path = `${prefix}spec`;
  const name = nameAt(metadata, 'name', `${prefix}metadata`);
  const chosen = chooseTopology(spec, path);
  const { costs, notes } = costsOf(chosen.topology);
  const linked = linksOf(costs, chosen.topology.path);
  const trafficAware = { domain: chosen.topology.key, ...linked.prices, links: linked.links };
  return {
    resources: [
      {
        apiVersion: API_VERSION,
        kind: 'RebalancePolicy',
        metadata: { name },
        spec: { mode: 'DryRun', strategy: { type: 'TrafficAware', trafficAware } },
      },
    ],
    notes: [
      changed(path, 'the policy only reports, since it moves pods that run: set mode when its plans are what you want'),
      ...(spec['configmapName'] === undefined
        ? []
        : [lost(`${path}.configmapName`, 'costs are not measured: write them as perGiB of links')]),
      ...unread(spec, ['weights', 'configmapName'], path),
      ...chosen.notes,
      ...notes,
      ...linked.notes,
    ],
  };
}

/** The costs between zones of the first weights, or else those of their first topology key. */
function chooseTopology(spec: JsonObject, path: string): { topology: Topology; notes: readonly ImportNote[] } {
  const [weights, ...otherWeights] = objectsAt(spec, 'weights', path);
  const at = `${path}.weights[0]`;
  const topologies = objectsAt(weights ?? {}, 'topologyList', at).map((entry, place): Topology => {
    const own = `${at}.topologyList[${place}]`;
    return { entry, path: own, key: nameAt(entry, 'topologyKey', own) };
  });
  const topology = topologies.find(({ key }) => key === ZONE) ?? topologies[0];
  if (weights === undefined || topology === undefined) {
    throw new MalformedField(`${path}.weights`, `has no costs: write a topologyList, such as one of ${ZONE}`);
  }
  const others = topologies.filter((each) => each !== topology);
  return {
    topology,
    notes: [
      ...unread(weights, ['name', 'topologyList'], at),
      ...otherWeights.map((_, place) =>
        lost(`${path}.weights[${place + 1}]`, 'a policy has one set of prices: that of the first weights'),
      ),
      ...others.map(({ key, path: own }) =>
        lost(own, `a policy has one domain, ${topology.key}: write the costs between values of ${key} as links of it`),
      ),
      ...unread(topology.entry, ['topologyKey', 'originList'], topology.path),
    ],
  };
}

function costsOf({ entry, path }: Topology): { costs: readonly Cost[]; notes: readonly ImportNote[] } {
  const costs: Cost[] = [];
  const notes: ImportNote[] = [];
  for (const [place, origin] of objectsAt(entry, 'originList', path).entries()) {
    const from = nameAt(origin, 'origin', `${path}.originList[${place}]`);
    notes.push(...unread(origin, ['origin', 'costList'], `${path}.originList[${place}]`));
    for (const [index, cost] of objectsAt(origin, 'costList', `${path}.originList[${place}]`).entries()) {
      const at = `${path}.originList[${place}].costList[${index}]`;
      const to = nameAt(cost, 'destination', at);
      notes.push(...costNotes(cost, at, from === to));
      if (from !== to) {
        costs.push({
          path: at,
          between: [from, to],
          networkCost: costAt(cost, at),
          capacity: bandwidthAt(cost, 'bandwidthCapacity', at),
        });
      }
    }
  }
  return { costs, notes };
}

function costAt(cost: JsonObject, path: string): number | undefined {
  const networkCost = integerAt(cost, 'networkCost', path);
  if (networkCost !== undefined && networkCost < 0) {
    throw new MalformedField(`${path}.networkCost`, `${networkCost} is below 0: write 0 or more`);
  }
  return networkCost;
}

function costNotes(cost: JsonObject, path: string, isWithin: boolean): readonly ImportNote[] {
  return [
    ...(isWithin ? [lost(path, 'traffic within a domain is free and without a limit')] : []),
    ...(cost['bandwidthAllocated'] === undefined
      ? []
      : [lost(`${path}.bandwidthAllocated`, 'capacity is all that AppGraphs may send: subtract what others send')]),
    ...unread(cost, ['destination', 'bandwidthCapacity', 'bandwidthAllocated', 'networkCost'], path),
  ];
}

/** One link for each pair of domains: the higher price of its directions, and the sum of their capacities. */
function linksOf(costs: readonly Cost[], path: string) {
  const pairs = [...Map.groupBy(costs, ({ between }) => [...between].sort().join(' ')).values()];
  const written = costs.flatMap(({ networkCost }) => networkCost ?? []);
  const highest = Math.max(0, ...written);
  const scale = Math.max(1, highest / HIGHEST_PRICE);
  const priceOf = (cost: number): string => formatDecimal(cost / scale);
  const isPriced = written.length > 0;
  const links = pairs.flatMap((pair) => {
    const capacity = capacityOf(pair);
    const cost = Math.max(...pair.map(({ networkCost = 0 }) => networkCost));
    return isPriced || capacity !== undefined
      ? [
          {
            between: pair[0]?.between,
            ...(isPriced ? { perGiB: priceOf(cost) } : {}),
            ...(capacity === undefined ? {} : { capacity: bandwidthText(capacity) }),
          },
        ]
      : [];
  });
  return {
    prices: isPriced ? { perGiB: priceOf(highest) } : {},
    links,
    notes: [...(isPriced ? priceNotes(path, scale) : []), ...pairs.flatMap((pair) => pairNotes(pair, isPriced))],
  };
}

/** Bits per second of all directions together; `undefined` when one of them has no limit. */
function capacityOf(pair: readonly Cost[]): number | undefined {
  const capacities = pair.flatMap(({ capacity }) => capacity ?? []);
  return capacities.length < pair.length ? undefined : capacities.reduce((sum, capacity) => sum + capacity, 0);
}

function priceNotes(path: string, scale: number): readonly ImportNote[] {
  return [
    changed(
      `${path}.originList`,
      `networkCost became a relative price${scale > 1 ? `, divided by ${formatDecimal(scale)}` : ''}: the costs of a plan are no money`,
    ),
    changed(
      `${path}.originList`,
      'pairs of domains that it does not name have the highest price of those that it names; scheduler-plugins gives them 100',
    ),
  ];
}

function pairNotes(pair: readonly Cost[], isPriced: boolean): readonly ImportNote[] {
  const [first, ...others] = pair;
  const differs = others.find(({ networkCost = 0 }) => networkCost !== (first?.networkCost ?? 0));
  const limited = pair.find(({ capacity }) => capacity !== undefined);
  const isLimited = capacityOf(pair) !== undefined;
  const unpriced = isPriced ? pair.filter(({ networkCost }) => networkCost === undefined) : [];
  return [
    ...unpriced.map(({ path }) =>
      changed(`${path}.networkCost`, 'is missing and counts as 0, as scheduler-plugins reads it'),
    ),
    ...(differs === undefined
      ? []
      : [changed(`${differs.path}.networkCost`, 'a link has one price: that of the more expensive direction')]),
    ...(limited === undefined
      ? []
      : [
          isLimited
            ? changed(
                `${limited.path}.bandwidthCapacity`,
                'a link has one capacity, for both directions together: the sum of what is written',
              )
            : lost(
                `${limited.path}.bandwidthCapacity`,
                'the other direction has no capacity, and a link has one for both: it gets none',
              ),
        ]),
  ];
}
