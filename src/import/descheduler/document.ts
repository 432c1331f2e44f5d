import { asObject, type JsonObject, MalformedField, objectAt, objectsAt, textAt, textsAt } from '../../model/json.ts';
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

/** Settings of a whole policy, each with what it becomes, or `none`. */
export const POLICY_SETTINGS: readonly (readonly [theirs: string, ours: string])[] = [
  ['nodeSelector', 'scope.nodeSelector'],
  ['maxNoOfPodsToEvictPerNode', 'budgets[].perNode'],
  ['maxNoOfPodsToEvictPerNamespace', 'budgets[].perNamespace'],
  ['maxNoOfPodsToEvictTotal', 'budgets[].maxMoves'],
  ['gracePeriodSeconds', 'none'],
  ['evictionFailureEventNotification', 'none'],
  ['metricsCollector', 'load.source'],
  ['metricsProviders', 'load.source'],
];
/** Their names. */
export const POLICY_SETTING_NAMES: readonly string[] = POLICY_SETTINGS.map(([theirs]) => theirs);

/** The DeschedulerPolicy, and the version of its API. Throws MalformedField for what is none, with what to write. */
export function versioned(value: unknown): { readonly policy: JsonObject; readonly isOld: boolean } {
  const policy = asObject(value, 'the policy');
  const apiVersion = textAt(policy, 'apiVersion', '');
  if (policy['kind'] !== 'DeschedulerPolicy' || apiVersion === undefined || !API_VERSIONS.includes(apiVersion)) {
    throw new MalformedField(
      'apiVersion, kind',
      `is ${String(apiVersion)} ${String(policy['kind'])}: write a DeschedulerPolicy of ${API_VERSIONS.join(' or ')}, the ConfigMap or the Helm values that hold one`,
    );
  }
  return { policy, isOld: apiVersion === 'descheduler/v1alpha1' };
}

/** A policy of descheduler/v1alpha2. */
export function readProfiles(policy: JsonObject): DeschedulerDocument {
  const notes = [...unread(policy, ['apiVersion', 'kind', 'profiles', ...POLICY_SETTING_NAMES], '')];
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
