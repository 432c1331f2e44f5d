import type { LabelExpressions } from '../../api/label-selector.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { integerAt, MalformedField, objectAt, objectsAt, textAt } from '../../model/json.ts';
import { type Conversion, changed, type ImportNote, lost } from '../note.ts';
import { type DeschedulerDocument, type EnabledPlugin, type Profile, readDocument } from './document.ts';
import { convertEvictor } from './evictor.ts';
import { type Balance, convertLowNodeUtilization } from './low-node-utilization.ts';
import { expressionsOf } from './selectors.ts';
import type { WrappedPolicy } from './wrapped.ts';

/** Most that a budget of ours can be told. */
const LARGEST_BUDGET = 1000;

/**
 * RebalancePolicies that do what a DeschedulerPolicy (descheduler/v1alpha1 or v1alpha2, of the descheduler up to 0.36) asked for,
 * one for each profile that balances load, in mode DryRun; and everything that they do not do, or do otherwise. Throws
 * MalformedField, with the path and what to write, for what the descheduler would refuse as well.
 */
export function convertDescheduler({ policy, timing }: WrappedPolicy): Conversion {
  const document = readDocument(policy);
  const { resources, notes } = withTheirPaths(document, () => convertAll(document, timing));
  return { resources, notes: notes.map((note) => ({ ...note, path: document.theirPath(note.path) })) };
}

/** A mistake stands where the user has written it. */
function withTheirPaths({ theirPath }: DeschedulerDocument, work: () => Conversion): Conversion {
  try {
    return work();
  } catch (error) {
    if (error instanceof MalformedField) {
      throw new MalformedField(theirPath(error.field), error.wrong);
    }
    throw error;
  }
}

function convertAll(document: DeschedulerDocument, timing: WrappedPolicy['timing']): Conversion {
  const settings = convertSettings(document);
  const taken = new Set<string>();
  const converted = document.profiles.map((profile) => convertProfile(profile, settings, timing, taken));
  return {
    resources: converted.flatMap(({ resources }) => resources),
    notes: [...document.notes, ...settings.notes, ...converted.flatMap(({ notes }) => notes)],
  };
}

interface Settings {
  readonly budget: Readonly<Record<string, number>>;
  readonly nodeExpressions: LabelExpressions;
  readonly notes: readonly ImportNote[];
}

const LIMITS = [
  ['maxNoOfPodsToEvictTotal', 'maxMoves'],
  ['maxNoOfPodsToEvictPerNode', 'perNode'],
  ['maxNoOfPodsToEvictPerNamespace', 'perNamespace'],
] as const;

/** What holds for all profiles. */
function convertSettings({ settings }: DeschedulerDocument): Settings {
  const limits = LIMITS.flatMap(([theirs, ours]) => {
    const value = integerAt(settings, theirs, '');
    return value === undefined ? [] : [{ theirs, ours, value }];
  });
  const nodeSelector = textAt(settings, 'nodeSelector', '');
  return {
    budget: Object.fromEntries(limits.map(({ ours, value }) => [ours, Math.min(value, LARGEST_BUDGET)])),
    nodeExpressions: nodeSelector === undefined ? [] : expressionsOf(nodeSelector, 'nodeSelector'),
    notes: [
      ...limits
        .filter(({ value }) => value > LARGEST_BUDGET)
        .map(({ theirs, ours }) => changed(theirs, `a plan has at most ${LARGEST_BUDGET} moves: ${ours} is that`)),
      ...(settings['gracePeriodSeconds'] === undefined
        ? []
        : [lost('gracePeriodSeconds', 'pods end as their own terminationGracePeriodSeconds says')]),
      ...providers(settings),
    ],
  };
}

function providers(settings: DeschedulerDocument['settings']): readonly ImportNote[] {
  const servers = objectsAt(settings, 'metricsProviders', '').flatMap((provider, index) => {
    const path = `metricsProviders[${index}]`;
    const url = textAt(objectAt(provider, 'prometheus', path) ?? {}, 'url', `${path}.prometheus`);
    return url === undefined
      ? []
      : [changed(`${path}.prometheus`, `is a flag of the operator: it is started with the server ${url}`)];
  });
  return servers;
}

function convertProfile(
  profile: Profile,
  settings: Settings,
  timing: WrappedPolicy['timing'],
  taken: Set<string>,
): Conversion {
  const balancing = profile.plugins.find(({ name }) => name === 'LowNodeUtilization');
  const unmatched = profile.plugins.filter((plugin) => plugin !== balancing).map(unmatchedNote);
  if (balancing === undefined) {
    const message = 'balances no load, so that it becomes no RebalancePolicy';
    return { resources: [], notes: [lost(profile.path, message), ...unmatched] };
  }
  const balance = convertLowNodeUtilization(balancing);
  const evictor = convertEvictor(profile);
  const budget = budgetOf(balance, settings);
  const selectors = {
    namespaceSelector: merged(evictor.namespaceSelector, balance.namespaceExpressions),
    podSelector: evictor.podSelector,
    nodeSelector: merged(undefined, [...settings.nodeExpressions, ...evictor.nodeExpressions]),
  };
  const scope = Object.fromEntries(Object.entries(selectors).filter(([, selector]) => selector !== undefined));
  const resource = {
    apiVersion: API_VERSION,
    kind: 'RebalancePolicy',
    metadata: { name: nameOf(profile.name, taken) },
    spec: {
      mode: 'DryRun',
      ...timing,
      strategy: { type: 'RefineLB' },
      load: balance.load,
      thresholds: { trigger: String(Number(balance.trigger.toFixed(6))), consecutive: 1 },
      ...(Object.keys(scope).length === 0 ? {} : { scope }),
      ...(budget === undefined ? {} : { budgets: [budget] }),
      protections: evictor.protections,
    },
  };
  const notes = [...evictor.notes, ...balance.notes, ...steps(profile, budget, timing), ...unmatched];
  return { resources: [resource], notes };
}

function budgetOf({ perNode }: Balance, { budget }: Settings): Readonly<Record<string, number>> | undefined {
  const tightest = Math.min(perNode ?? Number.POSITIVE_INFINITY, budget['perNode'] ?? Number.POSITIVE_INFINITY);
  const all = Number.isFinite(tightest) ? { ...budget, perNode: Math.min(tightest, LARGEST_BUDGET) } : budget;
  return Object.keys(all).length === 0 ? undefined : all;
}

/** What differs for every policy, whatever it says. */
function steps(
  { path }: Profile,
  budget: Readonly<Record<string, number>> | undefined,
  timing: WrappedPolicy['timing'],
): readonly ImportNote[] {
  return [
    changed(path, 'only reports, since mode is DryRun: write mode: Automatic once its plans are what you want'),
    changed(
      path,
      'pods of a Job are moved only when its podFailurePolicy ignores disruptions, and pods that are not Ready stay where they are: the descheduler evicts both',
    ),
    changed(
      path,
      'a workload rests for 10m after a rollout or a change of its scale (protections.stabilization), and for 10m and longer after a move (protections.cooldown): write 0s for what the descheduler does',
    ),
    timing === undefined
      ? [changed(path, 'runs every 5m: write interval, or schedule as the CronJob of the descheduler has it')]
      : [],
    budget === undefined
      ? [
          changed(
            path,
            'evictions were unlimited: the default budget holds instead (10 moves, 2 at a time, 25% of an owner, 2 per node, 5 per namespace)',
          ),
        ]
      : [],
  ].flat();
}

function unmatchedNote({ name, path }: EnabledPlugin): ImportNote {
  const known = UNMATCHED_PLUGINS.get(name);
  return lost(
    path,
    known === undefined ? `${name} is no plugin that is known here` : `${name}: ${known}; ${KEEP_ADVICE}`,
  );
}

type Selector = NonNullable<ReturnType<typeof convertEvictor>['podSelector']>;

function merged(selector: Selector | undefined, expressions: LabelExpressions): Selector | undefined {
  return expressions.length === 0
    ? selector
    : { ...selector, matchExpressions: [...(selector?.matchExpressions ?? []), ...expressions] };
}

/** The name of the profile as Kubernetes allows names, numbered where it was given before. */
function nameOf(profile: string, taken: Set<string>): string {
  const base =
    profile
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-')
      .replaceAll(/^-+|-+$/g, '')
      .slice(0, 60) || 'descheduler';
  let name = base;
  for (let number = 2; taken.has(name); number += 1) {
    name = `${base}-${number}`;
  }
  taken.add(name);
  return name;
}

/** What to do instead of the descheduler's plugins that put other things right than uneven load. By name of the plugin. */
const UNMATCHED_PLUGINS: ReadonlyMap<string, string> = new Map([
  [
    'RemoveDuplicates',
    'pods are moved for load, not because they are replicas on one node: write topologySpreadConstraints over kubernetes.io/hostname into the template, which every move keeps to',
  ],
  [
    'HighNodeUtilization',
    'it packs pods onto few nodes, the opposite of keeping them even: leave that to the cluster autoscaler, or give the two different nodes by scope.nodeSelector',
  ],
  [
    'RemovePodsViolatingTopologySpreadConstraint',
    'moves keep to topologySpreadConstraints, but none is made to restore one',
  ],
  [
    'RemovePodsViolatingInterPodAntiAffinity',
    'moves keep to anti-affinity in both directions, but none is made because a running pod violates it',
  ],
  [
    'RemovePodsViolatingNodeAffinity',
    'moves keep to node affinity, but none is made because a running pod violates it; preferred affinity decides between equal targets',
  ],
  [
    'RemovePodsViolatingNodeTaints',
    'targets are chosen by their taints, but no pod is moved because its own node got one: write a NoExecute taint, which evicts by itself',
  ],
  [
    'RemovePodsHavingTooManyRestarts',
    'restarts are no reason to move a pod: alert on kube_pod_container_status_restarts_total',
  ],
  ['PodLifeTime', 'no pod is evicted for its age: roll the workload out anew from a CronJob'],
  [
    'RemoveFailedPods',
    'failed pods use nothing and are left alone: set podFailurePolicy or ttlSecondsAfterFinished of the Job, or --terminated-pod-gc-threshold',
  ],
  ['ExamplePlugin', 'it is an example and does nothing'],
]);

/** What is true of all of them. */
const KEEP_ADVICE =
  'keep a descheduler with only this plugin if you need it: both evict through the Eviction API, so that PodDisruptionBudgets hold for the two together';
