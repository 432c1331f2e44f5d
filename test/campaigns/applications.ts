import { setTimeout as sleep } from 'node:timers/promises';
import type { RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { hasCondition, listNodes, listPods } from '../control-plane/cluster-state.ts';
import { applyScenario } from '../control-plane/scenario.ts';
import { parseScenario, type Scenario } from '../control-plane/scenario-parse.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { startIstioExporter, type TrafficEdge } from '../monitoring/istio-exporter.ts';
import { type PrometheusServer, startPrometheus } from '../monitoring/server.ts';
import { type PodEvent, watchPods } from '../support/object-watch.ts';
import { install } from '../support/operator-process.ts';
import { createRandom, type Random } from '../support/random.ts';
import { policyObject } from '../support/resources.ts';
import { CRASH_FAULTS, FAULT_RATE } from './crash.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import { startHostileApi } from './hostile-api.ts';
import { LEASE, leaderOf, type Operators, startOperators } from './operators.ts';
import { followPlans, type PlanLog, phasesInFlight, untilConverged } from './plan-log.ts';

/** How large the cluster is, and how often the operator is killed on it. */
export interface ApplicationsOptions {
  readonly nodes: number;
  readonly applications: number;
  /** Workloads of each application, of two pods each. */
  readonly members: number;
  readonly kills: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

/** What came of it: each list is to be empty. */
export interface ApplicationsReport extends Evidence {
  readonly pods: number;
  /** Pods outside the zone where most pods of their application ran, at the start. */
  readonly outside: number;
  /** Evictions that the API server accepted, for each of those. */
  readonly movesPerPodOutside: number;
  /** Megabits per second between zones, by the edges and where pods run. */
  readonly crossZone: { readonly before: number; readonly after: number };
  readonly kills: number;
  readonly killsWithOpenMoves: number;
  /** Members that had no Ready pod at some instant, though their PodDisruptionBudget asks for one. */
  readonly belowBudget: readonly string[];
  /** Applications of which a plan moved a part and does not say so, as `plan: application`. */
  readonly unreportedParts: readonly string[];
  /** Applications that ended spread over zones and were not before the policy ran. */
  readonly torn: readonly string[];
  /** Requests of the operator that failed beside the kills. */
  readonly injected: number;
  /** Says so when the policy did not come to rest. */
  readonly restless: readonly string[];
  /** Logs of replicas that ended by themselves. */
  readonly crashes: readonly string[];
}

const POLICY = 'traffic';
const ZONE = 'topology.kubernetes.io/zone';
const REPLICAS = 2;
const MAX_CONCURRENT = 4;
/** Share of what is sent that the first plan is to know of. */
const MEASURED_SHARE = 0.98;
/** Milliseconds between the sight of a move in flight and a kill, at most. */
const LONGEST_AIM = 1500;
/** Milliseconds that a move in flight is waited for before a kill. */
const LONGEST_WAIT = 8000;

const SPEC = {
  mode: 'Automatic',
  interval: '10s',
  historyLimit: 100,
  strategy: { type: 'TrafficAware' },
  load: { source: 'Requests' },
  thresholds: { trigger: '0.5' },
  budgets: [{ maxMoves: 500, maxConcurrent: MAX_CONCURRENT, perOwner: '100%', perNode: 100, perNamespace: 100 }],
  protections: { minPodAge: '0s', stabilization: '0s', cooldown: '0s' },
};

/**
 * Applications whose traffic a real Prometheus knows, spread over three zones by kube-scheduler, are brought together by TrafficAware while
 * the operator is killed again and again and some of its requests fail. Judged by the audit log, by every change of a pod, and by where pods run in the end.
 */
export async function runApplicationsCampaign(options: ApplicationsOptions): Promise<ApplicationsReport> {
  const { seed, log } = options;
  const random = createRandom(seed);
  const edges = edgesOf(options, random);
  const exporter = await startIstioExporter(edges);
  const prometheus = await startPrometheus();
  const cp = await startControlPlane({ metricsServer: false, log });
  try {
    prometheus.configure({ global: { scrape_interval: '5s' }, scrape_configs: exporter.scrapeConfigs });
    await install(cp, 'default');
    await applyScenario(cp, scenarioOf(options), { log });
    await cp.apply(namesOf(options).map((name) => graphObject(name, options.members)));
    await untilMeasured(prometheus, edges, log);
    return await play(cp, prometheus, edges, random, options);
  } finally {
    exporter.stop();
    await prometheus.stop();
    await cp.stop();
  }
}

async function play(
  cp: ControlPlane,
  prometheus: PrometheusServer,
  edges: readonly TrafficEdge[],
  random: Random,
  { kills, seed, log }: ApplicationsOptions,
): Promise<ApplicationsReport> {
  const before = await placesOf(cp);
  const watch = await watchMembers(cp);
  const plans = await followPlans(cp);
  const api = await startHostileApi(cp, seed);
  const args = [...LEASE, '--prometheus', `main=${prometheus.url}`];
  const operators = await startOperators(cp, REPLICAS, { args, kubeconfig: api.kubeconfig });
  try {
    await cp.apply([policyObject(POLICY, SPEC)]);
    api.spoil(FAULT_RATE, CRASH_FAULTS);
    let killsWithOpenMoves = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      killsWithOpenMoves += (await killOne(operators, plans, random)) ? 1 : 0;
      log(`${kill + 1} of ${kills} kills, ${killsWithOpenMoves} amid moves, ${plans.all().length} plans`);
    }
    api.spoil(0);
    const restless = await untilConverged(cp, [POLICY], plans, log);
    await operators.stop();
    await plans.look();
    await plans.stop();
    await watch.stop();
    const after = await placesOf(cp);
    const evidence = evidenceOf(await cp.audit(), plans, MAX_CONCURRENT);
    const outside = before.filter(({ zone, application }) => zone !== majorityZone(before, application)).length;
    return {
      ...evidence,
      pods: before.length,
      outside,
      movesPerPodOutside: evidence.evictions / outside,
      crossZone: { before: crossZone(edges, before), after: crossZone(edges, after) },
      kills,
      killsWithOpenMoves,
      belowBudget: watch.belowBudget(),
      unreportedParts: plans.all().flatMap(unreportedParts),
      torn: tornApplications(before, after),
      injected: Object.values(api.injected()).reduce((total, count) => total + count, 0),
      restless,
      crashes: operators.ends.map(({ code, log: end }) => `exit code ${code}:\n${end}`),
    };
  } finally {
    await operators.stop();
    await api.stop();
    await plans.stop();
    await watch.stop();
  }
}

function namesOf({ applications }: ApplicationsOptions): readonly string[] {
  return Array.from({ length: applications }, (_, place) => `shop-${place}`);
}

function memberName(place: number): string {
  return `member-${place}`;
}

/** A chain through all members of each application, and half as many edges between any two, of 1 to 20 Mb/s each. */
function edgesOf(options: ApplicationsOptions, random: Random): readonly TrafficEdge[] {
  return namesOf(options).flatMap((namespace) => {
    const chain = Array.from({ length: options.members - 1 }, (_, place) => [place, place + 1] as const);
    const others = chain.slice(options.members / 2).map(() => {
      const from = random.below(options.members);
      return [from, (from + 1 + random.below(options.members - 1)) % options.members] as const;
    });
    const pairs = new Map([...chain, ...others].map((pair) => [pair.join(' '), pair]));
    return [...pairs.values()].map(([from, to]) => {
      const bits = (1 + random.below(20)) * 1e6;
      return { namespace, from: memberName(from), to: memberName(to), bits };
    });
  });
}

/** Nodes in three zones that are two thirds full, and each application in a namespace of its own. */
function scenarioOf(options: ApplicationsOptions): Scenario {
  const pods = options.applications * options.members * 2;
  const cpu = Math.ceil((pods * 0.3) / options.nodes);
  const workloads = namesOf(options).flatMap((namespace) =>
    Array.from({ length: options.members }, (_, place) => ({
      name: memberName(place),
      namespace,
      replicas: 2,
      requests: { cpu: '200m', memory: '64Mi' },
      startup: '2s',
      termination: '1s',
      pdb: { maxUnavailable: 1 },
    })),
  );
  const nodes = [
    { prefix: 'worker-', count: options.nodes, cpu: `${cpu}`, memory: '64Gi', zones: ['zone-a', 'zone-b', 'zone-c'] },
  ];
  return parseScenario(JSON.stringify({ seed: options.seed, nodes, workloads }), 'applications');
}

function graphObject(namespace: string, members: number): object {
  const names = Array.from({ length: members }, (_, place) => memberName(place));
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'AppGraph',
    metadata: { name: 'application', namespace },
    spec: {
      members: names.map((name) => ({ name, workload: { kind: 'Deployment', name } })),
      traffic: { server: 'main', window: '1m', preset: 'Istio' },
    },
  };
}

/** Waits until Prometheus has seen a whole window: before, rates are less than what is sent, and plans by them are made again. */
async function untilMeasured(
  prometheus: PrometheusServer,
  edges: readonly TrafficEdge[],
  log: (line: string) => void,
): Promise<void> {
  const query = '8 * sum(rate(istio_tcp_sent_bytes_total{reporter="source"}[1m]))';
  const sent = edges.reduce((sum, { bits }) => sum + bits, 0);
  const missing = async () => {
    const [series] = await prometheus.query(query);
    const known = Number(series?.value[1] ?? 0);
    return known >= MEASURED_SHARE * sent ? undefined : `${Math.round(known)} of ${sent} bits per second`;
  };
  await waitUntil('rates of the exporter', missing, { timeoutMilliseconds: 180_000, log });
}

/** Where a pod runs. */
interface Place {
  readonly application: string;
  readonly member: string;
  readonly zone: string;
}

async function placesOf(cp: ControlPlane): Promise<readonly Place[]> {
  const zoneOf = new Map((await listNodes(cp)).map(({ metadata }) => [metadata.name, metadata.labels?.[ZONE] ?? '']));
  return (await listPods(cp)).flatMap(({ metadata: { namespace = '', labels, deletionTimestamp }, spec }) =>
    namespace.startsWith('shop-') && deletionTimestamp === undefined
      ? [{ application: namespace, member: labels?.['app'] ?? '', zone: zoneOf.get(spec.nodeName ?? '') ?? '' }]
      : [],
  );
}

function majorityZone(places: readonly Place[], application: string): string | undefined {
  const own = places.filter((place) => place.application === application);
  const zones = [...Map.groupBy(own, ({ zone }) => zone)];
  return zones.toSorted(([, left], [, right]) => right.length - left.length)[0]?.[0];
}

/** Megabits per second between zones, when each pod of a member talks to each pod of the other as much. */
function crossZone(edges: readonly TrafficEdge[], places: readonly Place[]): number {
  const podsOf = (application: string, member: string): readonly Place[] =>
    places.filter((place) => place.application === application && place.member === member);
  return edges.reduce((total, { namespace, from, to, bits }) => {
    const pairs = podsOf(namespace, from).flatMap((left) =>
      podsOf(namespace, to).map((right) => left.zone !== right.zone),
    );
    return total + ((2 * bits) / 1e6) * (pairs.filter(Boolean).length / pairs.length);
  }, 0);
}

/** Applications in more zones than at the start. */
function tornApplications(before: readonly Place[], after: readonly Place[]): readonly string[] {
  const zones = (places: readonly Place[], application: string): number =>
    new Set(places.filter((place) => place.application === application).map(({ zone }) => zone)).size;
  const applications = [...new Set(before.map(({ application }) => application))];
  return applications.filter((application) => zones(after, application) > zones(before, application));
}

/** Kills the replica that leads in the middle of moves, or a while after there were none; resolves to whether there were. */
async function killOne(operators: Operators, plans: PlanLog, random: Random): Promise<boolean> {
  const leader = (): number | undefined => leaderOf(operators, REPLICAS);
  const patience = { timeoutMilliseconds: 60_000 };
  await waitUntil('a leader', async () => (leader() === undefined ? 'none' : undefined), patience);
  const isOpen = (): boolean => plans.all().some((plan) => phasesInFlight(plan).length > 0);
  const began = performance.now();
  while (!isOpen() && performance.now() - began < LONGEST_WAIT) {
    await sleep(20);
  }
  await sleep(random.next() * LONGEST_AIM);
  const hit = isOpen();
  await operators.kill(leader() ?? random.below(REPLICAS), random.below(2) * 1000);
  return hit;
}

function unreportedParts({ metadata, spec, status }: RebalancePlan): readonly string[] {
  const moves = spec.moves.map(({ application = '' }, place) => ({ application, run: status?.moves?.[place] }));
  const reported = new Map(
    (status?.applications ?? []).map(({ namespace, name, phase }) => [`${namespace}/${name}`, phase]),
  );
  return [...Map.groupBy(moves, ({ application }) => application)].flatMap(([application, own]) => {
    const landed = own.filter(({ run }) => run?.phase === 'Landed').length;
    const isPart = landed > 0 && landed < own.length;
    return isPart && reported.get(application) !== 'Partial' ? [`${metadata.name}: ${application}`] : [];
  });
}

interface MemberWatch {
  readonly belowBudget: () => readonly string[];
  stop(): Promise<void>;
}

/** Follows how many pods of each member are Ready and not on their way out, as its PodDisruptionBudget counts. */
async function watchMembers(cp: ControlPlane): Promise<MemberWatch> {
  const ready = new Map<string, Set<string>>();
  const below = new Set<string>();
  const take = ({ type, object: { metadata, status } }: PodEvent): void => {
    const member = `${metadata.namespace}/${metadata.labels?.['app']}`;
    const pods = ready.get(member) ?? new Set();
    ready.set(member, pods);
    const isHealthy = metadata.deletionTimestamp === undefined && hasCondition({ status }, 'Ready');
    if (type !== 'DELETED' && isHealthy) {
      pods.add(metadata.uid);
    } else if (pods.delete(metadata.uid) && pods.size === 0) {
      below.add(member);
    }
  };
  const watch = await watchPods(cp, (event) => {
    if (event.object.metadata.namespace?.startsWith('shop-')) {
      take(event);
    }
  });
  await watch.begun;
  let isStopped = false;
  return {
    belowBudget: () => [...below],
    async stop() {
      if (!isStopped) {
        isStopped = true;
        await watch.stop();
      }
    },
  };
}
