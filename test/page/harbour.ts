import type { MoveStatus, RebalancePlan } from '../../src/api/v1alpha1/rebalance-plan.ts';
import type { RebalancePolicy } from '../../src/api/v1alpha1/rebalance-policy.ts';
import { openJournal, summarize } from '../../src/execute/journal.ts';
import type { AppGraphInfo } from '../../src/model/app-graph.ts';
import { formatInstant } from '../../src/model/instant.ts';
import type { PodInfo } from '../../src/model/pod.ts';
import type { ClusterSnapshot, UsageSample } from '../../src/model/snapshot.ts';
import { bytes, epochSeconds, milliCpu, seconds } from '../../src/model/units.ts';
import type { WorkloadInfo } from '../../src/model/workload.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import type { Plan } from '../../src/plan/plan.ts';
import { plan as computePlan } from '../../src/plan/planner.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import { serviceReport } from '../../src/plan/service-report.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import type { PageRole } from '../../src/report/page/state.ts';
import { inPhase, outcomeMessage, toRebalancePlan } from '../../src/report/plan-resource.ts';
import { policyStatus } from '../../src/report/policy-status.ts';
import { cloudCluster } from '../cloud-cluster/objects.ts';
import { applyPlan } from '../support/apply-plan.ts';
import { aPolicy } from '../support/builders/policy.ts';
import { aLedger, anInstance, aServiceClass, serviceLevels } from '../support/builders/service-levels.ts';
import { NOW } from '../support/builders.ts';
import { generateSnapshot } from '../support/generate.ts';
import { createRandom, type Random } from '../support/random.ts';

/** A cluster, its policy and its plan, as they stand at one moment. */
export interface Harbour {
  /** Where the page gets it from; default the leading replica. */
  readonly role?: PageRole;
  readonly snapshot: ClusterSnapshot;
  readonly policy: RebalancePolicy;
  readonly plan: RebalancePlan;
}

/** What a harbour looks like. */
export interface HarbourOptions {
  readonly nodes: number;
  readonly podsPerNode: number;
  /** Runs before the last one, each carried out whole. */
  readonly runs: number;
  /** Moves of the last plan that have landed; two more are under way. */
  readonly landed: number;
}

const INTERVAL = 300;
const GIB = 2 ** 30;

/**
 * A generated cluster whose load drifts from run to run, rebalanced by the real planner each time; status and journals are
 * made by the operator's own functions. The last plan is being carried out. Reproducible.
 */
export function harbour({ nodes, podsPerNode, runs, landed }: HarbourOptions): Harbour {
  const random = createRandom(11);
  const generated = generateSnapshot({ seed: 11, nodes, podsPerNode, replicas: 8, sigma: 0.9, load: 0.5 });
  let snapshot = withLedgers(withMemory(withStarts(generated, random), random), random);
  let policy = aPolicy('default', {
    mode: 'Automatic',
    strategy: { type: 'RefineLB' },
    load: { resources: [{ name: 'cpu', weight: 2 }, { name: 'memory' }] },
    thresholds: { consecutive: 1, trigger: '0.15' },
    budgets: [{ maxMoves: 24, perOwner: '25%', perNode: 4 }],
    protections: { cooldown: '0s' },
  });
  for (let run = 0; run < runs; run += 1) {
    const computed = computePlan(snapshot, resolveOptions(policy.spec));
    policy = ran(policy, computed, snapshot, completed(computed, policy, snapshot));
    snapshot = drifted(applyPlan(snapshot, computed), random);
  }
  const computed = computePlan(snapshot, resolveOptions(policy.spec));
  const plan = begun(computed, policy, snapshot);
  return advance({ policy: ran(policy, computed, snapshot, plan), snapshot, plan }, landed);
}

/** The example cluster of so many nodes, and its first plan: carried out, awaiting approval, or a preview from files. */
export function cloudHarbour(nodes: number, state: 'Executing' | 'AwaitingApproval' | 'Files'): Harbour {
  const snapshot = buildSnapshot([cloudCluster(nodes)]);
  const modes = { Executing: 'Automatic', AwaitingApproval: 'Approve', Files: 'DryRun' } as const;
  const policy = aPolicy('default', { mode: modes[state], thresholds: { consecutive: 1 } });
  const computed = computePlan(snapshot, resolveOptions(policy.spec));
  if (state === 'Executing') {
    const plan = begun(computed, policy, snapshot);
    return advance({ policy: ran(policy, computed, snapshot, plan), snapshot, plan }, 2);
  }
  const proposed = toRebalancePlan(computed, policy, 1, snapshot);
  if (state === 'Files') {
    return { role: 'Files', policy, snapshot, plan: proposed };
  }
  const plan = inPhase(proposed, 'AwaitingApproval', {});
  return { policy: ran(policy, computed, snapshot, plan), snapshot, plan };
}

/** The example cluster of so many nodes with applications that are spread over its zones, and a plan that brings them together. */
export function trafficHarbour(nodes: number): Harbour {
  const bare = buildSnapshot([cloudCluster(nodes)]);
  const snapshot = {
    ...bare,
    appGraphs: pairsOf([...bare.workloads.values()].filter(({ namespace }) => namespace !== 'kube-system')),
  };
  const policy = aPolicy('default', {
    mode: 'DryRun',
    strategy: { type: 'TrafficAware', trafficAware: { domain: 'topology.kubernetes.io/zone' } },
    budgets: [{ maxMoves: 200, perOwner: '100%' }],
  });
  const computed = computePlan(snapshot, resolveOptions(policy.spec));
  return { role: 'Files', policy, snapshot, plan: toRebalancePlan(computed, policy, 1, snapshot) };
}

/** Every two workloads of a namespace talk to each other, the later ones more. */
function pairsOf(workloads: readonly WorkloadInfo[]): readonly AppGraphInfo[] {
  const member = ({ kind, name }: WorkloadInfo) => ({ name, workload: { kind, name } });
  return [...Map.groupBy(workloads, ({ namespace }) => namespace).values()].flatMap((own) =>
    own.flatMap((one, place) => {
      const other = own[place + 1];
      if (place % 2 === 1 || other === undefined) {
        return [];
      }
      const { namespace, uid } = other;
      const edges = [{ from: one.name, to: other.name, bandwidth: (place + 1) * 200e6 }];
      return [{ namespace, name: `app-${place}`, uid, generation: 1, members: [member(one), member(other)], edges }];
    }),
  );
}

function begun(plan: Plan, policy: RebalancePolicy, snapshot: ClusterSnapshot): RebalancePlan {
  const started = inPhase(toRebalancePlan(plan, policy, 1, snapshot), 'Executing', {
    steering: 'AdmissionPolicy',
    startedAt: formatInstant(snapshot.takenAt),
    message: outcomeMessage(plan),
  });
  return withJournal(started, openJournal(started));
}

function ran(policy: RebalancePolicy, plan: Plan, snapshot: ClusterSnapshot, stored: RebalancePlan): RebalancePolicy {
  const services = serviceReport(snapshot, resolveOptions(policy.spec).scope);
  const facts = {
    acceptance: { status: 'True', reason: 'Valid', message: 'the policy is valid' },
    suspended: false,
    run: { startedAt: snapshot.takenAt, plan, services, stored, aboveTrigger: 1, consecutive: 1 },
    postponed: undefined,
    plans: [stored],
    nextRun: epochSeconds(snapshot.takenAt + INTERVAL),
    ledgers: undefined,
    steering: undefined,
    leader: 'evenkeel-7c9d8f6b5-x2k4p',
    past: {},
  } as const;
  return { ...policy, status: policyStatus(policy, facts, snapshot.takenAt) };
}

function completed(plan: Plan, policy: RebalancePolicy, snapshot: ClusterSnapshot): RebalancePlan {
  return inPhase(toRebalancePlan(plan, policy, 1, snapshot), 'Completed', {});
}

function withJournal(plan: RebalancePlan, moves: readonly MoveStatus[]): RebalancePlan {
  return { ...plan, status: { ...plan.status, moves: [...moves], summary: summarize(moves) } };
}

/** The harbour when so many moves have landed, with the two after them under way. */
export function advance({ snapshot, policy, plan }: Harbour, landed: number): Harbour {
  const ended = (plan.status?.moves ?? []).filter(({ phase }) => phase === 'Landed').length;
  let pods = snapshot.pods;
  let usage = snapshot.usage;
  const moves = plan.spec.moves.map((move, place): MoveStatus => {
    const run = plan.status?.moves?.[place] ?? { podUID: move.pod.uid, phase: 'Planned', attempt: 0 };
    const startedAt = formatInstant(epochSeconds(snapshot.takenAt + 8 * place));
    if (place < landed) {
      const replacement = { name: `${move.pod.name}-r`, uid: `${move.pod.uid}-r`, node: move.to ?? '' };
      if (place >= ended) {
        [pods, usage] = relocated(pods, usage, move, replacement);
      }
      const unavailableSeconds = 3 + (place % 5);
      const finishedAt = formatInstant(epochSeconds(snapshot.takenAt + 8 * place + unavailableSeconds));
      const outcome = `landed on ${move.to} as planned`;
      return { ...run, phase: 'Landed', startedAt, finishedAt, replacement, unavailableSeconds, outcome };
    }
    if (place < landed + 2) {
      return { ...run, phase: place === landed ? 'AwaitingReplacement' : 'Evicting', startedAt };
    }
    return run;
  });
  return { policy, snapshot: { ...snapshot, pods, usage }, plan: withJournal(plan, moves) };
}

type Pods = readonly PodInfo[];

function relocated(
  pods: Pods,
  usage: ClusterSnapshot['usage'],
  { pod, from, to }: RebalancePlan['spec']['moves'][number],
  { name, uid }: { readonly name: string; readonly uid: string },
): [Pods, ClusterSnapshot['usage']] {
  const moved = pods.map((each) => (each.uid === pod.uid ? { ...each, name, uid, nodeName: to } : each));
  const sample = usage?.pods.get(`${pod.namespace}/${pod.name}`);
  if (usage === undefined || sample === undefined) {
    return [moved, usage];
  }
  const nodes = new Map(usage.nodes);
  add(nodes, from, sample, -1);
  add(nodes, to, sample, 1);
  const podSamples = new Map(usage.pods);
  podSamples.delete(`${pod.namespace}/${pod.name}`);
  podSamples.set(`${pod.namespace}/${name}`, sample);
  return [moved, { nodes, pods: podSamples }];
}

function add(nodes: Map<string, UsageSample>, name: string | undefined, sample: UsageSample, sign: 1 | -1): void {
  const node = nodes.get(name ?? '');
  if (node !== undefined && name !== undefined) {
    const [cpu, memory] = [node.cpu + sign * sample.cpu, node.memory + sign * sample.memory];
    nodes.set(name, { ...node, cpu: milliCpu(cpu), memory: bytes(memory) });
  }
}

/** Every pod was Ready some seconds after it was made, which is what a move of it is expected to cost. */
function withStarts(snapshot: ClusterSnapshot, random: Random): ClusterSnapshot {
  const start = (pod: PodInfo): PodInfo => ({ ...pod, readySince: epochSeconds(pod.createdAt + 2 + random.below(12)) });
  return { ...snapshot, pods: snapshot.pods.map(start) };
}

/** Pods of one controller use about as much memory; nodes the sum and half a gibibyte. */
function withMemory(snapshot: ClusterSnapshot, random: Random): ClusterSnapshot {
  const sizes = new Map<string, number>();
  const memoryOf = ({ owner }: PodInfo): number => {
    const size = sizes.get(owner?.uid ?? '') ?? 0.15 * GIB * Math.exp(0.8 * random.normal());
    sizes.set(owner?.uid ?? '', size);
    return size * (0.8 + 0.4 * random.next());
  };
  return withUsage(snapshot, (pod, sample) => ({ cpu: sample.cpu, memory: memoryOf(pod) }));
}

/** The snapshot one interval later, with every controller's load gone up or down. */
export function drifted(snapshot: ClusterSnapshot, random: Random, span = INTERVAL, sigma = 0.25): ClusterSnapshot {
  const factors = new Map<string, number>();
  const factorOf = ({ owner }: PodInfo): number => {
    const factor = factors.get(owner?.uid ?? '') ?? Math.exp(sigma * random.normal());
    factors.set(owner?.uid ?? '', factor);
    return factor;
  };
  const takenAt = epochSeconds(snapshot.takenAt + span);
  return withUsage({ ...snapshot, takenAt }, (pod, { cpu, memory }) => ({ cpu: cpu * factorOf(pod), memory }));
}

function withUsage(
  snapshot: ClusterSnapshot,
  useOf: (pod: PodInfo, sample: UsageSample) => { readonly cpu: number; readonly memory: number },
): ClusterSnapshot {
  const timestamp = epochSeconds(snapshot.takenAt - 10);
  const pods = new Map<string, UsageSample>();
  const nodes = new Map(snapshot.nodes.map(({ name }) => [name, { cpu: 100, memory: GIB / 2 }]));
  for (const pod of snapshot.pods) {
    const key = `${pod.namespace}/${pod.name}`;
    const sample = snapshot.usage?.pods.get(key);
    if (sample !== undefined) {
      const { cpu, memory } = useOf(pod, sample);
      pods.set(key, { ...sample, timestamp, cpu: milliCpu(cpu), memory: bytes(memory) });
      const node = nodes.get(pod.nodeName ?? '');
      if (node !== undefined) {
        node.cpu += cpu;
        node.memory += memory;
      }
    }
  }
  const samples = [...nodes].map(([name, { cpu, memory }]) => {
    return [name, { cpu: milliCpu(cpu), memory: bytes(memory), timestamp, window: seconds(15) }] as const;
  });
  return { ...snapshot, usage: { nodes: new Map(samples), pods } };
}

/** A dozen workloads with a class: most have got what they were promised, two are in danger, one has not. */
function withLedgers(snapshot: ClusterSnapshot, random: Random): ClusterSnapshot {
  const classes = [
    aServiceClass({ name: 'gold', importance: 1, slo: 0.999, window: 86_400 }),
    aServiceClass({ name: 'silver', importance: 2, slo: 0.99, window: 86_400 }),
    aServiceClass({ name: 'batch', importance: 3, slo: 0.9, window: 86_400, mode: 'Concurrent' }),
  ];
  const workloads = [...snapshot.workloads.values()].slice(0, 12);
  const ledgers = workloads.map(({ namespace, kind, name, uid, replicas = 1 }, place) => {
    const serviceClass = classes[place % 3];
    const slo = serviceClass?.slo ?? 0;
    const total = 80_000;
    const share = place === 4 ? slo - 0.01 : slo + (1 - slo) * (place < 2 ? 0.04 : 0.3 + 0.6 * random.next());
    const counted = { useful: share * total, pending: (1 - share) * total };
    return aLedger({
      namespace,
      owner: { kind, name, uid },
      className: serviceClass?.name ?? '',
      times: counted,
      running: replicas,
      instances: [anInstance({ useful: seconds(share * total), pending: seconds((1 - share) * total), running: true })],
      asOf: NOW,
      preemptions: place % 4 === 2 ? 1 + random.below(3) : 0,
    });
  });
  const classOf = new Map(ledgers.map(({ owner, className }) => [owner.uid, className]));
  const labelled = (pod: PodInfo): PodInfo => {
    const className = classOf.get(pod.owner?.uid ?? '');
    return className === undefined ? pod : { ...pod, labels: new Map([...pod.labels, [CLASS_LABEL, className]]) };
  };
  return { ...snapshot, pods: snapshot.pods.map(labelled), serviceLevels: serviceLevels(classes, ledgers) };
}
