import {
  asObject,
  isObject,
  type JsonObject,
  MalformedField,
  objectAt,
  objectsAt,
  textAt,
  textsAt,
} from '../../model/json.ts';
import { type ImportNote, lost, unread } from '../note.ts';

/** A plugin that a profile enables. */
export interface EnabledPlugin {
  readonly name: string;
  /** Where it is enabled. */
  readonly path: string;
  readonly args: JsonObject;
  /** Where its arguments stand. */
  readonly argsPath: string;
}

/** A profile, whichever version of the API it was written in. */
export interface Profile {
  readonly name: string;
  readonly path: string;
  readonly plugins: readonly EnabledPlugin[];
  /** Arguments of DefaultEvictor. */
  readonly evictor: JsonObject;
  readonly evictorPath: string;
}

/** What a DeschedulerPolicy says, whichever version of its API it was written in. */
export interface DeschedulerDocument {
  /** What stands beside the profiles, under the names of descheduler/v1alpha2. */
  readonly settings: JsonObject;
  readonly profiles: readonly Profile[];
  readonly notes: readonly ImportNote[];
  /** Where a setting with this path in descheduler/v1alpha2 stands in the document. */
  readonly theirPath: (path: string) => string;
}

const API_VERSIONS = ['descheduler/v1alpha1', 'descheduler/v1alpha2'];

/** Settings of a whole policy in descheduler/v1alpha2. */
export const POLICY_SETTINGS = [
  'nodeSelector',
  'maxNoOfPodsToEvictPerNode',
  'maxNoOfPodsToEvictPerNamespace',
  'maxNoOfPodsToEvictTotal',
  'gracePeriodSeconds',
  'evictionFailureEventNotification',
  'metricsCollector',
  'metricsProviders',
];

/** Settings of a whole policy in descheduler/v1alpha1 that belong to DefaultEvictor since. */
const EVICTOR_SETTINGS = ['evictLocalStoragePods', 'evictSystemCriticalPods', 'ignorePvcPods', 'evictFailedBarePods'];

/** Reads a DeschedulerPolicy of either version of its API. Throws MalformedField for what is none, with what to write. */
export function readDocument(value: unknown): DeschedulerDocument {
  const policy = asObject(value, 'the policy');
  const apiVersion = textAt(policy, 'apiVersion', '');
  if (policy['kind'] !== 'DeschedulerPolicy' || apiVersion === undefined || !API_VERSIONS.includes(apiVersion)) {
    throw new MalformedField(
      'apiVersion, kind',
      `is ${String(apiVersion)} ${String(policy['kind'])}: write a DeschedulerPolicy of ${API_VERSIONS.join(' or ')}, the ConfigMap or the Helm values that hold one`,
    );
  }
  return apiVersion === 'descheduler/v1alpha2' ? readProfiles(policy) : readStrategies(policy);
}

function readProfiles(policy: JsonObject): DeschedulerDocument {
  const notes = [...unread(policy, ['apiVersion', 'kind', 'profiles', ...POLICY_SETTINGS], '')];
  const profiles = objectsAt(policy, 'profiles', '').map((profile, index) => readProfile(profile, index, notes));
  return { settings: policy, profiles, notes, theirPath: (path) => path };
}

/** Kinds of plugins that decide which pods leave. */
const EVICTING = ['deschedule', 'balance'];
/** Kinds of plugins that choose among them. */
const CHOOSING = ['filter', 'preEvictionFilter', 'sort', 'presort', 'preSort'];

function readProfile(profile: JsonObject, index: number, notes: ImportNote[]): Profile {
  const path = `profiles[${index}]`;
  notes.push(...unread(profile, ['name', 'pluginConfig', 'plugins'], path));
  const configs = objectsAt(profile, 'pluginConfig', path).map((config, place) => ({
    name: textAt(config, 'name', `${path}.pluginConfig[${place}]`),
    args: objectAt(config, 'args', `${path}.pluginConfig[${place}]`) ?? {},
    argsPath: `${path}.pluginConfig[${place}].args`,
  }));
  const argsOf = (name: string) => configs.find((config) => config.name === name);
  const plugins = objectAt(profile, 'plugins', path) ?? {};
  notes.push(...unread(plugins, [...EVICTING, ...CHOOSING], `${path}.plugins`), ...otherEvictors(plugins, path));
  const evictor = argsOf('DefaultEvictor');
  return {
    name: textAt(profile, 'name', path) ?? `profile-${index + 1}`,
    path,
    plugins: EVICTING.flatMap((kind) =>
      enabledOf(plugins, kind, path).map(({ name, path: at }) => {
        const config = argsOf(name);
        return { name, path: at, args: config?.args ?? {}, argsPath: config?.argsPath ?? at };
      }),
    ),
    evictor: evictor?.args ?? {},
    evictorPath: evictor?.argsPath ?? path,
  };
}

function enabledOf(plugins: JsonObject, kind: string, path: string): readonly { name: string; path: string }[] {
  const section = objectAt(plugins, kind, `${path}.plugins`) ?? {};
  const at = `${path}.plugins.${kind}`;
  return textsAt(section, 'enabled', at).map((name, index) => ({ name, path: `${at}.enabled[${index}]` }));
}

function otherEvictors(plugins: JsonObject, path: string): readonly ImportNote[] {
  return CHOOSING.flatMap((kind) => enabledOf(plugins, kind, path))
    .filter(({ name }) => name !== 'DefaultEvictor')
    .map(({ name, path: at }) =>
      lost(
        at,
        `${name} chooses pods by rules of its own: say what it protects by scope and protections of the RebalancePolicy`,
      ),
    );
}

/** descheduler/v1alpha1 has one profile; its strategies have parameters under other names. */
function readStrategies(policy: JsonObject): DeschedulerDocument {
  const notes = [...unread(policy, ['apiVersion', 'kind', 'strategies', ...POLICY_SETTINGS, ...EVICTOR_SETTINGS], '')];
  const strategies = Object.entries(objectAt(policy, 'strategies', '') ?? {}).flatMap(([name, value]) => {
    const path = `strategies.${name}`;
    const strategy = asObject(value, path);
    const params = objectAt(strategy, 'params', path) ?? {};
    return strategy['enabled'] === true ? [{ name, path, params, argsPath: `${path}.params` }] : [];
  });
  const evictor = Object.fromEntries(EVICTOR_SETTINGS.flatMap((key) => (key in policy ? [[key, policy[key]]] : [])));
  const balance = strategies.find(({ name }) => name === 'LowNodeUtilization');
  const profile: Profile = {
    name: 'descheduler',
    path: 'strategies',
    plugins: strategies.map(({ name, path, params, argsPath }) => ({ name, path, argsPath, args: argsOf(params) })),
    evictor: { ...evictor, ...choiceOf(balance?.params ?? {}) },
    evictorPath: balance?.argsPath ?? '',
  };
  return { settings: policy, profiles: [profile], notes, theirPath: strategyPath };
}

/** Names in descheduler/v1alpha1 of parameters that have others since; strategies.NAME.params stands before both. */
const OLD_NAMES: ReadonlyMap<string, string> = new Map([
  ...['thresholds', 'targetThresholds', 'numberOfNodes', 'useDeviationThresholds'].map(
    (name) => [name, `nodeResourceUtilizationThresholds.${name}`] as const,
  ),
  ['evictableNamespaces', 'namespaces'],
  ['priorityThreshold.value', 'thresholdPriority'],
  ['priorityThreshold.name', 'thresholdPriorityClassName'],
]);

function strategyPath(path: string): string {
  const [, before = '', own = ''] = /^(strategies\.[^.]+\.params)\.(.+)$/.exec(path) ?? [];
  if (EVICTOR_SETTINGS.includes(own)) {
    return own;
  }
  for (const [name, old] of OLD_NAMES) {
    if (own === name || own.startsWith(`${name}.`)) {
      return `${before}.${old}${own.slice(name.length)}`;
    }
  }
  return path;
}

/** Parameters under the names that arguments have since. */
function argsOf(params: JsonObject): JsonObject {
  const { nodeResourceUtilizationThresholds: utilization, namespaces, ...others } = params;
  const { thresholdPriority, thresholdPriorityClassName, nodeFit, labelSelector, ...rest } = others;
  return {
    ...rest,
    ...(isObject(utilization) ? utilization : {}),
    ...(namespaces === undefined ? {} : { evictableNamespaces: namespaces }),
  };
}

/** What DefaultEvictor has since, of the parameters of a strategy. */
function choiceOf({ thresholdPriority, thresholdPriorityClassName, nodeFit, labelSelector }: JsonObject): JsonObject {
  const threshold = {
    ...(thresholdPriority === undefined ? {} : { value: thresholdPriority }),
    ...(thresholdPriorityClassName === undefined ? {} : { name: thresholdPriorityClassName }),
  };
  return {
    ...(Object.keys(threshold).length === 0 ? {} : { priorityThreshold: threshold }),
    ...(nodeFit === undefined ? {} : { nodeFit }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
  };
}
