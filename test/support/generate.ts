import type { NodeInfo } from '../../src/model/node.ts';
import type { OwnerRef, PodInfo, SchedulingConstraints } from '../../src/model/pod.ts';
import type { Labels } from '../../src/model/selector.ts';
import { NO_SERVICE_LEVELS } from '../../src/model/service-level.ts';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../src/model/storage.ts';
import type { PdbInfo, WorkloadInfo } from '../../src/model/workload.ts';
import { anAffinityTerm, aSpread, aTaint, aToleration } from './builders/scheduling.ts';
import { aNode, aPdb, aPod, aSample, aWorkload, constraints, NOW, selecting } from './builders.ts';
import { createRandom, type Random } from './random.ts';

/** What a generated cluster looks like. */
export interface GenerateOptions {
  readonly seed: number;
  readonly nodes: number;
  readonly podsPerNode: number;
  /** Pods of one deployment, on average. */
  readonly replicas?: number;
  /** Mean cpu usage of the cluster, a fraction of its capacity. */
  readonly load?: number;
  /** Sigma of the log-normal distribution of usage over deployments; pods of one deployment differ by a fifth of it. */
  readonly sigma?: number;
  /** Share of the nodes that form a tainted pool of their own, with nodes of twice the size. */
  readonly pool?: number;
  /** Share of the deployments with pod anti-affinity over hosts, pod affinity over zones, or spread, a third each. */
  readonly tied?: number;
}

interface Deployment {
  readonly name: string;
  readonly namespace: string;
  readonly replicas: number;
  /** Millicores per pod before scaling. */
  readonly usage: number;
  readonly pooled: boolean;
  readonly constraints: SchedulingConstraints;
  /** Shared by its pods, as the projection interns them, and so are the texts of the owner. */
  readonly labels: Labels;
  readonly owner: OwnerRef;
}

const MIB = 2 ** 20;

/**
 * A cluster as kube-scheduler would leave it that looks at requests only: pods of equal requests are spread by count,
 * while what they use differs by deployment. Reproducible: the same options give the same snapshot everywhere. A tenth
 * of the deployments have a PodDisruptionBudget; one pod per node belongs to a DaemonSet.
 */
export function generateSnapshot(options: GenerateOptions): ClusterSnapshot {
  const random = createRandom(options.seed);
  const nodes = generateNodes(options);
  const deployments = generateDeployments(options, random);
  const placed = placePods(nodes, deployments, options, random);
  const daemons = nodes.map(({ name }) => daemonPod(name));
  const pods = [...placed.map(({ pod }) => pod), ...daemons].sort(byKey);
  return {
    takenAt: NOW,
    nodes,
    pods,
    workloads: new Map(workloadsOf(deployments).map((workload) => [workload.uid, workload])),
    namespaces: new Map(deployments.map(({ namespace }) => [namespace, new Map([['name', namespace]])])),
    pdbs: deployments.filter((_, index) => index % 10 === 0).map(pdbOf),
    storage: NO_STORAGE,
    pastMoves: [],
    serviceLevels: NO_SERVICE_LEVELS,
    usage: usageOf(nodes, placed, daemons),
    problems: [],
  };
}

function generateNodes({ nodes, pool = 0.1 }: GenerateOptions): readonly NodeInfo[] {
  const pooled = Math.floor(nodes * pool);
  return Array.from({ length: nodes }, (_, index) => {
    const name = `node-${String(index).padStart(5, '0')}`;
    const labels = { 'topology.kubernetes.io/zone': `zone-${index % 3}`, pool: index < pooled ? 'large' : 'general' };
    return index < pooled
      ? aNode(name, { labels, taints: [aTaint('pool', 'large')], allocatable: { cpu: 8000, memory: 32 * 1024 * MIB } })
      : aNode(name, { labels });
  });
}

function generateDeployments(
  { nodes, podsPerNode, replicas = 20, sigma = 0.8, pool = 0.1, tied = 0 }: GenerateOptions,
  random: Random,
): readonly Deployment[] {
  const count = Math.max(1, Math.round((nodes * (podsPerNode - 1)) / replicas));
  return Array.from({ length: count }, (_, index): Deployment => {
    const pooled = random.next() < pool && Math.floor(nodes * pool) > 1;
    const zoned = random.next() < 0.1;
    const selector = new Map([
      ...(pooled ? [['pool', 'large'] as const] : []),
      ...(zoned ? [['topology.kubernetes.io/zone', `zone-${random.below(3)}`] as const] : []),
    ]);
    const name = `app-${String(index).padStart(5, '0')}`;
    return {
      name,
      namespace: `team-${index % 50}`,
      replicas: Math.max(2, Math.round(replicas * (0.5 + random.next()))),
      usage: Math.exp(sigma * random.normal()),
      pooled,
      constraints: constraints({
        requests: { cpu: 50 + 25 * random.below(4), memory: 128 * MIB },
        nodeSelector: selector,
        tolerations: pooled ? [aToleration({ key: 'pool', value: 'large', operator: 'Equal' })] : [],
        ...(index < tied * count ? tieOf(name, index) : NO_TIES),
      }),
      labels: new Map([['app', name]]),
      owner: { kind: 'ReplicaSet', name, uid: `uid-${name}` },
    };
  });
}

type Tie = Partial<Pick<SchedulingConstraints, 'podAffinity' | 'podAntiAffinity' | 'spread'>>;
const NO_TIES: Tie = {};
const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

/** Ties that placement by count keeps for the most part, and that leave a planner something to do. */
function tieOf(app: string, index: number): Tie {
  switch (index % 3) {
    case 0:
      return { podAntiAffinity: [anAffinityTerm({ app }, { topologyKey: HOST })] };
    case 1:
      return { podAffinity: [anAffinityTerm({ app }, { topologyKey: ZONE })] };
    default:
      return { spread: [aSpread({ app }, { topologyKey: ZONE }), aSpread({ app }, { topologyKey: HOST, maxSkew: 2 })] };
  }
}

interface Placed {
  readonly pod: PodInfo;
  readonly usage: number;
}

/** Deals the pods out to nodes that suit them, and scales usage so that each pool has the load that was asked for. */
function placePods(
  nodes: readonly NodeInfo[],
  deployments: readonly Deployment[],
  { nodes: count, podsPerNode, load = 0.55, sigma = 0.8 }: GenerateOptions,
  random: Random,
): readonly Placed[] {
  const slots = new Int32Array(count).fill(podsPerNode - 1);
  const placed: (Placed & { pooled: boolean })[] = [];
  for (const deployment of deployments) {
    for (let replica = 0; replica < deployment.replicas; replica += 1) {
      const node = pickNode(nodes, slots, deployment, random);
      if (node !== undefined) {
        const usage = deployment.usage * Math.exp((sigma / 5) * random.normal());
        placed.push({ pod: podOf(deployment, replica, node), usage, pooled: deployment.pooled });
      }
    }
  }
  const [general, large] = [false, true].map((pooled) => load * ratioOf(nodes, placed, pooled));
  return placed.map(({ pod, usage, pooled }) => {
    const scaled = usage * ((pooled ? large : general) ?? 0);
    return { pod, usage: Math.round(scaled * 1000) / 1000 };
  });
}

/** Capacity over usage of one pool. */
function ratioOf(
  nodes: readonly NodeInfo[],
  placed: readonly (Placed & { pooled: boolean })[],
  pooled: boolean,
): number {
  const capacity = nodes
    .filter(({ taints }) => taints.length > 0 === pooled)
    .reduce((sum, { allocatable }) => sum + allocatable.cpu, 0);
  return capacity / placed.reduce((sum, pod) => sum + (pod.pooled === pooled ? pod.usage : 0), 0);
}

/** The emptiest of four random nodes that suit. */
function pickNode(
  nodes: readonly NodeInfo[],
  slots: Int32Array,
  { constraints: { nodeSelector }, pooled }: Deployment,
  random: Random,
): NodeInfo | undefined {
  let best = -1;
  for (let tries = 0, found = 0; tries < 60 && found < 4; tries += 1) {
    const index = random.below(nodes.length);
    const node = nodes[index];
    const tainted = (node?.taints.length ?? 0) > 0;
    const suits = tainted === pooled && [...nodeSelector].every(([key, value]) => node?.labels.get(key) === value);
    if (suits && (slots[index] ?? 0) > 0) {
      found += 1;
      best = best < 0 || (slots[index] ?? 0) > (slots[best] ?? 0) ? index : best;
    }
  }
  if (best < 0) {
    return undefined;
  }
  slots[best] = (slots[best] ?? 0) - 1;
  return nodes[best];
}

function podOf(deployment: Deployment, replica: number, node: NodeInfo): PodInfo {
  const suffix = String(replica).padStart(3, '0');
  return {
    ...aPod(`${deployment.name}-${suffix}`, {
      namespace: deployment.namespace,
      nodeName: node.name,
      owner: { ...deployment.owner },
      constraints: deployment.constraints,
    }),
    labels: deployment.labels,
  };
}

function daemonPod(nodeName: string): PodInfo {
  return aPod(`agent-${nodeName}`, {
    namespace: 'monitoring',
    nodeName,
    owner: { kind: 'DaemonSet', name: 'agent', uid: 'uid-agent' },
    constraints: AGENT,
  });
}

const AGENT = constraints({ requests: { cpu: 20, memory: 32 * MIB }, tolerations: [aToleration()] });
const AGENT_USAGE = 20;
const SYSTEM_USAGE = 100;

function workloadsOf(deployments: readonly Deployment[]): readonly WorkloadInfo[] {
  return deployments.map(({ name, namespace, replicas }) => aWorkload(name, { namespace, replicas }));
}

function pdbOf({ name, namespace, labels, replicas }: Deployment): PdbInfo {
  return aPdb(name, {
    namespace,
    selector: selecting(Object.fromEntries(labels)),
    disruptionsAllowed: Math.ceil(replicas / 4),
  });
}

function usageOf(
  nodes: readonly NodeInfo[],
  placed: readonly Placed[],
  daemons: readonly PodInfo[],
): ClusterSnapshot['usage'] {
  const totals = new Map(nodes.map(({ name }) => [name, SYSTEM_USAGE + AGENT_USAGE]));
  const pods = new Map<string, UsageSample>();
  for (const { pod, usage } of placed) {
    totals.set(pod.nodeName ?? '', (totals.get(pod.nodeName ?? '') ?? 0) + usage);
    pods.set(`${pod.namespace}/${pod.name}`, aSample(usage, 128 * MIB));
  }
  for (const { namespace, name } of daemons) {
    pods.set(`${namespace}/${name}`, aSample(AGENT_USAGE, 32 * MIB));
  }
  const nodeSamples = [...totals].map(([name, cpu]) => [name, aSample(cpu, 30 * 128 * MIB)] as const);
  return { nodes: new Map(nodeSamples), pods: new Map([...pods].sort(([left], [right]) => (left < right ? -1 : 1))) };
}

function byKey(left: PodInfo, right: PodInfo): number {
  const [one, other] = [`${left.namespace} ${left.name}`, `${right.namespace} ${right.name}`];
  return one < other ? -1 : Number(one > other);
}
