import { asObject, integerAt, isObject, type JsonObject, objectAt, textAt } from '../../model/json.ts';
import { changed, type ImportNote, unread } from '../note.ts';
import { type DeschedulerDocument, type EnabledPlugin, POLICY_SETTING_NAMES } from './document.ts';
import { type KnownPlugin, oldNameOf, PLUGIN_BY_NAME } from './plugins.ts';
import { priorityOf } from './priority.ts';

/** Settings of a whole policy in descheduler/v1alpha1 that belong to DefaultEvictor since. */
const EVICTOR_SETTINGS = [
  'evictLocalStoragePods',
  'evictDaemonSetPods',
  'evictSystemCriticalPods',
  'ignorePvcPods',
  'evictFailedBarePods',
];
/** Parameters of each strategy that belong to DefaultEvictor since. */
const CHOICES = ['thresholdPriority', 'thresholdPriorityClassName', 'nodeFit'];
/** Where settings of DefaultEvictor stand until it is known where the document has them. */
const EVICTOR_PATH = 'evictor';

interface Strategy extends EnabledPlugin {
  readonly params: JsonObject;
}

/** A policy of descheduler/v1alpha1: one profile, whose strategies have parameters under other names and places. */
export function readStrategies(policy: JsonObject): DeschedulerDocument {
  const strategies = enabledStrategies(policy);
  const strictest = strictestThreshold(strategies);
  const withoutFit = strategies.find(({ params }) => params['nodeFit'] !== true);
  const evictor = {
    ...Object.fromEntries(EVICTOR_SETTINGS.flatMap((key) => (key in policy ? [[key, policy[key]]] : []))),
    nodeFit: withoutFit === undefined,
    ...(strictest === undefined ? {} : { priorityThreshold: thresholdOf(strictest) }),
  };
  const theirPath = (path: string): string =>
    path.startsWith(`${EVICTOR_PATH}.`)
      ? evictorPath(path.slice(EVICTOR_PATH.length + 1), strictest, withoutFit)
      : strategyPath(path, strategies);
  return {
    settings: policy,
    profiles: [{ name: 'descheduler', path: 'strategies', plugins: strategies, evictor, evictorPath: EVICTOR_PATH }],
    notes: [
      ...unread(policy, ['apiVersion', 'kind', 'strategies', ...POLICY_SETTING_NAMES, ...EVICTOR_SETTINGS], ''),
      ...sharedThreshold(strategies, strictest),
    ],
    theirPath,
  };
}

function enabledStrategies(policy: JsonObject): readonly Strategy[] {
  return Object.entries(objectAt(policy, 'strategies', '') ?? {}).flatMap(([name, value]) => {
    const path = `strategies.${name}`;
    const strategy = asObject(value, path);
    const params = objectAt(strategy, 'params', path) ?? {};
    const args = argsOf(params, PLUGIN_BY_NAME.get(name));
    return strategy['enabled'] === true ? [{ name, path, params, args, argsPath: `${path}.params` }] : [];
  });
}

/** Parameters under the names that arguments have since; unknown ones keep their path as a name. */
function argsOf(params: JsonObject, plugin: KnownPlugin | undefined): JsonObject {
  const { group = '' } = plugin ?? {};
  const old = new Map(Object.entries(plugin?.oldNames ?? {}).map(([now, then]) => [then, now]));
  const known = new Set(plugin?.settings.map(([name]) => name));
  const entries = Object.entries(params)
    .filter(([name]) => !CHOICES.includes(name))
    .flatMap(([name, value]): (readonly [string, unknown])[] => {
      if (name !== group || !isObject(value)) {
        return [[old.get(name) ?? name, value]];
      }
      return Object.entries(value).map(([inner, each]) => {
        const now = plugin?.synonyms?.[inner] ?? inner;
        return [known.has(now) ? now : `${group}.${inner}`, each];
      });
    });
  return Object.fromEntries(entries);
}

/** Where an argument stands in the document: in the group of its strategy, or beside it. */
function strategyPath(path: string, strategies: readonly Strategy[]): string {
  const owner = strategies.find(({ argsPath }) => path.startsWith(`${argsPath}.`));
  if (owner === undefined) {
    return path;
  }
  const own = path.slice(owner.argsPath.length + 1);
  const [name = own] = /^[^.[]+/.exec(own) ?? [];
  return `${owner.argsPath}.${oldName(name, owner)}${own.slice(name.length)}`;
}

function oldName(name: string, { name: strategy, params }: Strategy): string {
  const plugin = PLUGIN_BY_NAME.get(strategy);
  if (plugin === undefined || !plugin.settings.some(([own]) => own === name)) {
    return name;
  }
  const { group = '', synonyms = {} } = plugin;
  const grouped = params[group];
  const written = Object.keys(isObject(grouped) ? grouped : {}).find((key) => synonyms[key] === name);
  return written === undefined ? oldNameOf(plugin, name) : `${group}.${written}`;
}

function evictorPath(setting: string, threshold: Strategy | undefined, withoutFit: Strategy | undefined): string {
  if (EVICTOR_SETTINGS.includes(setting)) {
    return setting;
  }
  if (setting.startsWith('priorityThreshold') && threshold !== undefined) {
    return `${threshold.argsPath}.${setting.endsWith('.name') ? 'thresholdPriorityClassName' : 'thresholdPriority'}`;
  }
  return setting === 'nodeFit' && withoutFit !== undefined ? `${withoutFit.argsPath}.nodeFit` : 'strategies';
}

/** The strategy that leaves most pods alone for their priority; undefined when none says anything about priority. */
function strictestThreshold(strategies: readonly Strategy[]): Strategy | undefined {
  const [strictest] = strategies
    .filter(({ params }) => CHOICES.slice(0, 2).some((name) => name in params))
    .toSorted((left, right) => priorityIn(left) - priorityIn(right));
  return strictest;
}

function priorityIn(strategy: Strategy): number {
  return priorityOf(thresholdOf(strategy), strategy.argsPath).value;
}

function thresholdOf({ params, argsPath }: Strategy): JsonObject {
  const value = integerAt(params, 'thresholdPriority', argsPath);
  const name = textAt(params, 'thresholdPriorityClassName', argsPath);
  return { ...(value === undefined ? {} : { value }), ...(name === undefined ? {} : { name }) };
}

/** A RebalancePolicy has one threshold. */
function sharedThreshold(strategies: readonly Strategy[], strictest: Strategy | undefined): readonly ImportNote[] {
  const priorities = new Set(strategies.map(priorityIn));
  return strictest === undefined || priorities.size < 2
    ? []
    : [
        changed(
          `${EVICTOR_PATH}.priorityThreshold.${'thresholdPriority' in strictest.params ? 'value' : 'name'}`,
          `is the lowest threshold, and applies to all strategies: a RebalancePolicy has one`,
        ),
      ];
}
