import { objectAt, textsAt } from '../../model/json.ts';
import { type ImportNote, lost, unread } from '../note.ts';
import type { EnabledPlugin, Profile } from './document.ts';
import { convertEvictor, type Protected } from './evictor.ts';
import type { Limits } from './limits.ts';
import type { Part } from './part.ts';
import { PLUGIN_BY_NAME } from './plugins.ts';
import { about, type Conditions } from './scopes.ts';
import { namespaceExpressions, selectorAt } from './selectors.ts';

/** A plugin whose work is done here, and the pods that it is about. */
export interface ConvertedPlugin {
  readonly name: string;
  readonly path: string;
  readonly profile: string;
  /** Of namespaces and pods. */
  readonly conditions: Conditions;
  readonly part: Part;
}

/** A profile as parts of RebalancePolicies. */
export interface ConvertedProfile {
  readonly path: string;
  readonly protections: Protected['protections'];
  /** Of nodes. */
  readonly nodes: Conditions;
  readonly plugins: readonly ConvertedPlugin[];
  readonly notes: readonly ImportNote[];
}

/** Converts what a profile protects and enables. */
export function convertProfile(profile: Profile, limits: Limits): ConvertedProfile {
  const evictor = convertEvictor(profile);
  const conditions = [...limits.conditions, ...evictor.conditions];
  const pods = conditions.filter(({ subject }) => subject !== 'node');
  const converted = profile.plugins.map((plugin) => convertPlugin(plugin, profile.name, pods));
  const plugins = converted.filter(({ part }) => part.repair !== undefined || part.strategy !== undefined);
  const notes = converted.flatMap(({ part }) => part.notes);
  const nothing = lost(profile.path, 'becomes no RebalancePolicy, since nothing in it has a counterpart');
  return {
    path: profile.path,
    protections: evictor.protections,
    nodes: conditions.filter(({ subject }) => subject === 'node'),
    plugins,
    notes: plugins.length === 0 ? [nothing, ...notes] : [...evictor.notes, ...notes],
  };
}

function convertPlugin(plugin: EnabledPlugin, profile: string, pods: Conditions): ConvertedPlugin {
  const { name, path, args, argsPath } = plugin;
  const known = PLUGIN_BY_NAME.get(name);
  if (known === undefined) {
    const part = { notes: [lost(path, `${name} is no plugin that is known here`)] };
    return { name, path, profile, conditions: pods, part };
  }
  const settings = known.settings.map(([setting]) => setting);
  const part = known.convert(plugin);
  const scope = scopeIn(plugin, settings);
  const unknown = unread(args, settings, argsPath);
  return {
    name,
    path,
    profile,
    conditions: [...pods, ...scope.conditions],
    part: { ...part, notes: [...unknown, ...part.notes, ...scope.notes] },
  };
}

/** The namespace that no policy touches. */
const UNTOUCHED = 'kube-system';

function scopeIn(
  { args, argsPath: path }: EnabledPlugin,
  settings: readonly string[],
): { readonly conditions: Conditions; readonly notes: readonly ImportNote[] } {
  const setting = settings.includes('evictableNamespaces') ? 'evictableNamespaces' : 'namespaces';
  const namespaces = objectAt(args, setting, path) ?? {};
  const at = `${path}.${setting}`;
  return {
    conditions: [
      ...about('namespace', namespaceExpressions(namespaces, at)),
      ...about('pod', settings.includes('labelSelector') ? selectorAt(args, 'labelSelector', path) : []),
    ],
    notes: textsAt(namespaces, 'include', at).includes(UNTOUCHED)
      ? [lost(`${at}.include`, `pods of ${UNTOUCHED} are never moved`)]
      : [],
  };
}
