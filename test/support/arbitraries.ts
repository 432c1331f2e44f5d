import fc from 'fast-check';
import type { NodeInfo } from '../../src/model/node.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import { NO_SERVICE_LEVELS } from '../../src/model/service-level.ts';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import { epochSeconds } from '../../src/model/units.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import { greedyLb, refineLb, someOptions } from './builders/options.ts';
import { aHostPort, anAffinityTerm, aSpread, aTaint, aToleration } from './builders/scheduling.ts';
import { aNode, aPdb, aPod, aSample, aSnapshot, aWorkload, NOW, selecting } from './builders.ts';
import { isTolerated } from './naive-scheduler.ts';

const MIB = 2 ** 20;
/** A tenth of a core: loads on a coarse grid make ties and exact limits frequent, which is where mistakes hide. */
const STEP = 100;

const nodeArbitrary = fc.record({
  cpu: fc.constantFrom(2000, 4000, 4000, 8000),
  memory: fc.constantFrom(8192, 16384),
  slots: fc.constantFrom(4, 8, 110),
  zone: fc.constantFrom('a', 'b'),
  tainted: fc.boolean().map((tainted) => tainted),
  rack: fc.constantFrom(undefined, 'r1', 'r2', 'r3'),
  gpus: fc.constantFrom(0, 0, 1),
  daemons: fc.constantFrom<number>(0, 0, 150, 333.25),
});

const podArbitrary = fc.record({
  node: fc.nat(),
  owner: fc.constantFrom('web', 'api', 'db'),
  steps: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.double({ min: 0, max: 15, noNaN: true })),
  memory: fc.integer({ min: 0, max: 40 }),
  cpuRequest: fc.constantFrom(0, 100, 500, 1500),
  zone: fc.constantFrom(undefined, undefined, undefined, 'a', 'b'),
  tolerates: fc.boolean(),
  gpus: fc.constantFrom(0, 0, 0, 1),
  port: fc.constantFrom(0, 0, 0, 8080),
});

/** What ties the pods of one owner to others: nothing for most. Topology keys that some node may not carry. */
const tieArbitrary = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Tie>({}) },
  {
    weight: 2,
    arbitrary: fc
      .record({
        kind: fc.constantFrom('podAffinity' as const, 'podAntiAffinity' as const),
        app: fc.constantFrom('web', 'api', 'db'),
        topologyKey: fc.constantFrom('zone', 'kubernetes.io/hostname', 'rack'),
      })
      .map(({ kind, app, topologyKey }): Tie => ({ [kind]: [anAffinityTerm({ app }, { topologyKey })] })),
  },
  {
    weight: 2,
    arbitrary: fc
      .record({
        app: fc.constantFrom('web', 'api', 'db'),
        topologyKeys: fc.constantFrom(
          ['zone'],
          ['kubernetes.io/hostname'],
          ['zone', 'kubernetes.io/hostname'],
          ['rack'],
        ),
        maxSkew: fc.constantFrom(1, 2),
        minDomains: fc.constantFrom(1, 1, 3),
      })
      .map(
        ({ app, topologyKeys, ...rest }): Tie => ({
          spread: topologyKeys.map((topologyKey) => aSpread({ app }, { topologyKey, ...rest })),
        }),
      ),
  },
);

type Tie = Partial<Pick<PodInfo['constraints'], 'podAffinity' | 'podAntiAffinity' | 'spread'>>;

type PodDraft = typeof podArbitrary extends fc.Arbitrary<infer Draft> ? Draft : never;
type NodeDraft = typeof nodeArbitrary extends fc.Arbitrary<infer Draft> ? Draft : never;

/** How varied a snapshot is. */
export interface SnapshotShape {
  readonly maxNodes?: number;
  readonly maxPods?: number;
  /** No taints, selectors, ports, extended resources, protections: every pod may go everywhere it has room. */
  readonly plain?: boolean;
}

/**
 * A healthy cluster: every node is Ready and has a sample, every pod runs, is sampled, and came to where it is by taints,
 * selectors, ports, requests, affinity and spread (pods that could not are dropped). Heterogeneous nodes, daemons outside
 * of pods, PDBs.
 */
export function healthySnapshot(shape: SnapshotShape = {}): fc.Arbitrary<ClusterSnapshot> {
  const { maxNodes = 6, maxPods = 24, plain = false } = shape;
  return fc
    .record({
      nodes: fc.array(nodeArbitrary, { minLength: 2, maxLength: maxNodes }),
      pods: fc.array(podArbitrary, { minLength: 1, maxLength: maxPods }),
      ties: fc.record({ web: tieArbitrary, api: tieArbitrary, db: tieArbitrary }),
      pdb: fc.option(fc.integer({ min: 0, max: 4 }), { nil: undefined }),
    })
    .map(({ nodes, pods, ties, pdb }) => assemble(nodes, pods, plain ? {} : ties, plain ? undefined : pdb, plain));
}

function assemble(
  nodeDrafts: readonly NodeDraft[],
  podDrafts: readonly PodDraft[],
  ties: Readonly<Record<string, Tie>>,
  pdb: number | undefined,
  plain: boolean,
): ClusterSnapshot {
  const nodes = nodeDrafts.map((draft, index) => nodeOf(draft, index, plain));
  const placed: { pod: PodInfo; cpu: number; memory: number }[] = [];
  const templates = new Map<string, PodInfo['constraints']>();
  podDrafts.forEach((draft, index) => {
    const node = nodes[draft.node % nodes.length];
    const others = placed.filter(({ pod }) => pod.nodeName === node?.name).map(({ pod }) => pod);
    const pod = interned(podOf(draft, index, node?.name ?? '', ties[draft.owner] ?? {}, plain), templates);
    const present = aSnapshot({ nodes, pods: placed.map((each) => each.pod) });
    if (node !== undefined && isAtHome(pod, node, others) && isTolerated(pod, node, present)) {
      placed.push({ pod, cpu: Math.min(draft.steps * STEP, 15_000), memory: draft.memory * 100 * MIB });
    }
  });
  const samples = new Map(placed.map(({ pod, cpu, memory }) => [`shop/${pod.name}`, aSample(cpu, memory)] as const));
  const nodeSamples = nodes.map(({ name }, index) => {
    const own = placed.filter(({ pod }) => pod.nodeName === name);
    const cpu = own.reduce((sum, use) => sum + use.cpu, Number(nodeDrafts[index]?.daemons ?? 0));
    const memory = own.reduce((sum, use) => sum + use.memory, 0);
    return [name, aSample(cpu, memory)] as const;
  });
  return {
    takenAt: NOW,
    nodes,
    pods: placed.map(({ pod }) => pod),
    workloads: new Map(['web', 'api', 'db'].map((name) => [`uid-${name}`, aWorkload(name)])),
    namespaces: new Map([['shop', new Map()]]),
    pdbs: pdb === undefined ? [] : [aPdb('web', { selector: selecting({ app: 'web' }), disruptionsAllowed: pdb })],
    storage: NO_STORAGE,
    pastMoves: [],
    serviceLevels: NO_SERVICE_LEVELS,
    usage: { nodes: new Map(nodeSamples), pods: samples },
    problems: [],
  };
}

/** The pod with constraints that it shares with its like, as the projection interns them. */
function interned(pod: PodInfo, templates: Map<string, PodInfo['constraints']>): PodInfo {
  const { requests, nodeSelector } = pod.constraints;
  const key = JSON.stringify([pod.constraints, [...requests.extended], [...nodeSelector]]);
  const shared = templates.get(key) ?? pod.constraints;
  templates.set(key, shared);
  return { ...pod, constraints: shared };
}

function nodeOf({ cpu, memory, slots, zone, rack, tainted, gpus }: NodeDraft, index: number, plain: boolean): NodeInfo {
  return aNode(`node-${index}`, {
    allocatable: {
      cpu,
      memory: memory * MIB,
      pods: plain ? 110 : slots,
      extended: gpus > 0 && !plain ? { 'gpu/x': gpus } : {},
    },
    labels: { zone, ...(rack === undefined ? {} : { rack }) },
    taints: tainted && !plain && index % 3 === 2 ? [aTaint('special')] : [],
  });
}

function podOf(draft: PodDraft, index: number, nodeName: string, tie: Tie, plain: boolean): PodInfo {
  const { owner, cpuRequest, zone, tolerates, gpus, port } = draft;
  const requests = { cpu: plain ? 0 : cpuRequest, extended: gpus > 0 && !plain ? { 'gpu/x': gpus } : {} };
  return aPod(`${owner}-${String(index).padStart(2, '0')}`, {
    nodeName,
    owner,
    labels: { app: owner },
    constraints: {
      requests,
      nodeSelector: new Map(zone !== undefined && !plain ? [['zone', zone]] : []),
      tolerations: tolerates && !plain ? [aToleration({ key: 'special' })] : [],
      hostPorts: port > 0 && !plain ? [aHostPort(port)] : [],
      ...tie,
    },
  });
}

/** Whether a pod could have been scheduled to `node` next to `others`; written apart from the filters under test. */
export function isAtHome(pod: PodInfo, node: NodeInfo, others: readonly PodInfo[]): boolean {
  const { requests, nodeSelector, tolerations, hostPorts } = pod.constraints;
  const sum = (pick: (other: PodInfo) => number): number => others.reduce((total, other) => total + pick(other), 0);
  const gpus = requests.extended.get('gpu/x') ?? 0;
  const isTaken = hostPorts.some(({ port }) =>
    others.some((other) => other.constraints.hostPorts.some((used) => used.port === port)),
  );
  return (
    others.length + 1 <= node.allocatable.pods &&
    (requests.cpu === 0 || requests.cpu + sum(({ constraints }) => constraints.requests.cpu) <= node.allocatable.cpu) &&
    gpus + sum(({ constraints }) => (gpus === 0 ? 0 : (constraints.requests.extended.get('gpu/x') ?? 0))) <=
      (gpus === 0 ? 0 : (node.allocatable.extended.get('gpu/x') ?? 0)) &&
    [...nodeSelector].every(([key, value]) => node.labels.get(key) === value) &&
    (node.taints.every(({ effect }) => effect === 'PreferNoSchedule') || tolerations.length > 0) &&
    !isTaken
  );
}

const strategyArbitrary = fc.oneof(
  fc
    .record({
      overload: fc.constantFrom(1, 1.05, 1.2),
      refinements: fc.constantFrom('Standard' as const, 'None' as const),
    })
    .map(refineLb),
  fc.record({ tolerance: fc.constantFrom(0, 0.02, 0.1) }).map(greedyLb),
);

const resourcesArbitrary = fc.constantFrom<Pick<PolicyOptions['load'], 'resources' | 'aggregate'>>(
  { resources: [{ name: 'cpu', weight: 1 }], aggregate: 'Weighted' },
  { resources: [{ name: 'cpu', weight: 1 }], aggregate: 'Weighted' },
  {
    resources: [
      { name: 'cpu', weight: 1 },
      { name: 'pods', weight: 2 },
    ],
    aggregate: 'Weighted',
  },
  {
    resources: [
      { name: 'cpu', weight: 2 },
      { name: 'memory', weight: 1 },
    ],
    aggregate: 'Weighted',
  },
  {
    resources: [
      { name: 'cpu', weight: 1 },
      { name: 'memory', weight: 1 },
    ],
    aggregate: 'Dominant',
  },
);

/** Options of a strategy whose moves are judged one by one, without budgets. */
export const optionsArbitrary: fc.Arbitrary<PolicyOptions> = fc
  .record({
    strategy: strategyArbitrary,
    load: resourcesArbitrary,
    trigger: fc.constantFrom(0, 0.05, 0.1),
    minGain: fc.constantFrom(0, 0.005, 0.025, 0.05),
    minImprovement: fc.constantFrom(0, 0.02),
    minReduction: fc.constantFrom(0, 0.05),
  })
  .map(({ strategy, load, trigger, minGain, minImprovement, minReduction }) =>
    someOptions({ strategy, load, thresholds: { trigger, minGain, minImprovement, minReduction } }),
  );

/** A sample that may be anything the Metrics API or a file can come up with. */
export const wildSample: fc.Arbitrary<UsageSample> = fc
  .record({
    cpu: fc.oneof(
      fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0, 1e300),
      fc.integer({ min: 0, max: 20_000 }),
    ),
    memory: fc.constantFrom(0, Number.NaN, -5, 2 ** 30, 2 ** 60),
    age: fc.constantFrom(20, 20, 20, -10, -3600, 89, 91, 1e9, Number.NaN),
  })
  .map(({ cpu, memory, age }) => aSample(cpu, memory, { timestamp: epochSeconds(NOW - age) }));
