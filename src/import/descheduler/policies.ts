import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { MalformedField } from '../../model/json.ts';
import { type Conversion, changed, type ImportNote, lost } from '../note.ts';
import { budgetOf, type Limits, unlimited } from './limits.ts';
import type { Part } from './part.ts';
import type { ConvertedPlugin, ConvertedProfile } from './profile.ts';
import { type Division, divide, namesIn, overlap, type Scope, scopeField, valuesOf, withConditions } from './scopes.ts';
import { NAMESPACE_NAME } from './selectors.ts';
import type { WrappedPolicy } from './wrapped.ts';

/** More policies than this nobody reads. */
const MOST_POLICIES = 20;

/** Profiles that protect the same pods and are about the same nodes: their plugins may work in one policy. */
interface Group {
  readonly profiles: readonly ConvertedProfile[];
  readonly divisions: readonly Division<ConvertedPlugin>[];
}

/** A policy to be, and the group that it is of. */
interface Draft extends Division<ConvertedPlugin> {
  readonly name: string;
  readonly group: Group;
}

/**
 * RebalancePolicies for the plugins of all profiles. A pod has one policy, so that plugins about the same pods share one, and
 * plugins about others get one of their own with a scope beside it.
 */
export function formPolicies(
  profiles: readonly ConvertedProfile[],
  limits: Limits,
  timing: WrappedPolicy['timing'],
): Conversion {
  const groups = groupsOf(profiles);
  const drafts = named(groups);
  const formed = drafts.map((draft) => form(draft, limits, timing));
  return {
    resources: formed.map(({ resource }) => resource),
    notes: [
      ...groups.flatMap((group) => differences(group, limits, timing)),
      ...severalPolicies(groups, drafts, limits),
      ...overlaps(drafts),
      ...formed.flatMap(({ notes }) => notes),
    ],
  };
}

function groupsOf(profiles: readonly ConvertedProfile[]): readonly Group[] {
  const alike = Map.groupBy(
    profiles.filter(({ plugins }) => plugins.length > 0),
    ({ protections, nodes }) => JSON.stringify([protections, nodes]),
  );
  return [...alike.values()].map((own) => ({ profiles: own, divisions: divisionsOf(own) }));
}

function divisionsOf(profiles: readonly ConvertedProfile[]): readonly Division<ConvertedPlugin>[] {
  const wants = profiles.flatMap(({ plugins }) =>
    plugins.map((plugin) => ({ conditions: plugin.conditions, item: plugin })),
  );
  const divisions = divide(wants, MOST_POLICIES);
  if (divisions === undefined) {
    throw new MalformedField(
      profiles[0]?.path ?? '',
      `has so many different namespaces and label selectors that more than ${MOST_POLICIES} policies would be needed: give plugins the same ones, or convert part of the profile`,
    );
  }
  const nodes = profiles[0]?.nodes ?? [];
  return divisions
    .filter(({ scope }) => !isUntouched(scope))
    .map(({ scope, items }) => ({ scope: withConditions(scope, nodes), items }));
}

function isUntouched(scope: Scope): boolean {
  const names = valuesOf(scope, 'namespace', NAMESPACE_NAME);
  return names.length > 0 && names.every((name) => name === 'kube-system');
}

/** Each policy is called after its profiles, and where there are several of them, after the namespaces or labels that it is about. */
function named(groups: readonly Group[]): readonly Draft[] {
  const taken = new Set<string>();
  return groups.flatMap((group) => {
    const [first, ...others] = group.divisions.map(({ scope }) => namesIn(scope));
    const shared = new Set(first?.filter((name) => others.every((names) => names.includes(name))));
    return group.divisions.map((division) => {
      const profiles = [...new Set(division.items.map(({ profile }) => profile))];
      const own = namesIn(division.scope).filter((name) => !shared.has(name));
      return { ...division, group, name: nameOf([...profiles, ...own.slice(0, 3)].join('-'), taken) };
    });
  });
}

/** The text as Kubernetes allows names, numbered where it was given before. */
function nameOf(text: string, taken: Set<string>): string {
  const base =
    text
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, '-')
      .slice(0, 60)
      .replaceAll(/^-+|-+$/g, '') || 'descheduler';
  let name = base;
  for (let number = 2; taken.has(name); number += 1) {
    name = `${base}-${number}`;
  }
  taken.add(name);
  return name;
}

interface Formed {
  readonly resource: object;
  readonly notes: readonly ImportNote[];
}

function form({ name, scope, items, group }: Draft, limits: Limits, timing: WrappedPolicy['timing']): Formed {
  const { fields, repair, notes } = combine(items, name);
  const selectors = scopeField(scope);
  const budget = budgetOf(
    limits,
    items.map(({ part }) => part),
  );
  const resource = {
    apiVersion: API_VERSION,
    kind: 'RebalancePolicy',
    metadata: { name },
    spec: {
      mode: 'DryRun',
      ...timing,
      ...fields,
      ...(repair === undefined ? {} : { repair }),
      ...(selectors === undefined ? {} : { scope: selectors }),
      ...(budget === undefined ? {} : { budgets: [budget] }),
      protections: group.profiles[0]?.protections,
    },
  };
  return { resource, notes };
}

type Fields = Readonly<Record<string, unknown>>;

interface Combined {
  readonly fields: Fields;
  readonly repair: Fields | undefined;
  readonly notes: readonly ImportNote[];
}

/** Of two plugins for one field the first one has it. */
function combine(items: readonly ConvertedPlugin[], policy: string): Combined {
  const notes: ImportNote[] = [];
  const owners = new Map<string, ConvertedPlugin>();
  let fields: Fields = { strategy: { type: 'None' } };
  let repair: Fields | undefined;
  for (const item of items) {
    const { name, path, part } = item;
    const field = part.strategy === undefined ? `repair.${Object.keys(part.repair ?? {}).join()}` : 'strategy';
    const owner = owners.get(field);
    if (owner !== undefined && isAlike(owner.part, part)) {
      continue;
    }
    if (owner !== undefined) {
      notes.push(
        lost(path, `${name}: ${field} of RebalancePolicy ${policy} is what ${owner.path} says, and can be only one`),
      );
      continue;
    }
    owners.set(field, item);
    fields = part.strategy ?? fields;
    repair = part.repair === undefined ? repair : { ...repair, ...part.repair };
  }
  return { fields, repair, notes };
}

function isAlike(left: Part, right: Part): boolean {
  return JSON.stringify([left.repair, left.strategy]) === JSON.stringify([right.repair, right.strategy]);
}

/** What differs for every policy, whatever it says. */
function differences(
  { profiles, divisions }: Group,
  limits: Limits,
  timing: WrappedPolicy['timing'],
): readonly ImportNote[] {
  const path = profiles[0]?.path ?? '';
  const parts = divisions.flatMap(({ items }) => items.map(({ part }) => part));
  const unready = parts.some(({ repair = {} }) => UNREADY.some((field) => field in repair));
  return [
    changed(path, 'only reports, since mode is DryRun: write mode: Automatic once its plans are what you want'),
    changed(
      path,
      `pods of a Job are moved only when its podFailurePolicy ignores disruptions, and pods that are not Ready stay where they are${unready ? ', unless repair.restarts, repair.failed or the states of repair.maxLifetime name them' : ''}: the descheduler evicts both`,
    ),
    changed(
      path,
      'a workload rests for 10m after a rollout or a change of its scale (protections.stabilization), and for 10m and longer after a move (protections.cooldown): write 0s for what the descheduler does',
    ),
    timing === undefined
      ? [changed(path, 'runs every 5m: write interval, or schedule as the CronJob of the descheduler has it')]
      : [],
    unlimited(path, limits, parts),
  ].flat();
}

/** Repairs of pods that need not be Ready. */
const UNREADY = ['restarts', 'failed', 'maxLifetime'];

function severalPolicies(
  groups: readonly Group[],
  drafts: readonly Draft[],
  { settings }: Limits,
): readonly ImportNote[] {
  const divided = groups.flatMap((group) => {
    const own = drafts.filter((draft) => draft.group === group).map(({ name }) => name);
    const message = `becomes ${own.length} policies, ${own.join(', ')}, since its plugins are about different namespaces or labels; no pod is in two of them`;
    return own.length < 2 ? [] : [changed(group.profiles[0]?.path ?? '', message)];
  });
  const limited = drafts.length < 2 ? [] : settings;
  return [
    ...divided,
    ...limited.map((setting) => changed(setting, `applies to each of the ${drafts.length} policies by itself`)),
  ];
}

/** The older policy owns pods that two select, and of two that are created together the first by name. */
function overlaps(drafts: readonly Draft[]): readonly ImportNote[] {
  return drafts.flatMap((draft, index) =>
    drafts
      .slice(0, index)
      .filter((earlier) => earlier.group !== draft.group && overlap(earlier.scope, draft.scope))
      .map((earlier) => {
        const [owner, other] = [earlier.name, draft.name].sort();
        const message = `policies ${earlier.name} and ${draft.name} select some of the same pods with different protections or nodes: created together, ${owner} owns these and ${other} leaves them alone. Write scopes that exclude each other`;
        return lost(draft.group.profiles[0]?.path ?? '', message);
      }),
  );
}
