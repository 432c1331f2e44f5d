import type { LabelSelectorField } from '../../api/v1alpha1/schema.ts';
import { entriesAt, integerAt, type JsonObject, MalformedField, objectAt, textAt } from '../../model/json.ts';
import { changed, type ImportNote, lost, unread } from '../note.ts';
import type { EnabledPlugin } from './document.ts';
import { namespaceExpressions } from './selectors.ts';

/** LowNodeUtilization as parts of a RebalancePolicy. */
export interface Balance {
  readonly load: {
    readonly source: 'MetricsAPI' | 'Requests';
    readonly resources: readonly { readonly name: string }[];
    readonly aggregate?: 'Dominant';
  };
  /** Points of node capacity; undefined when no resource is left that is balanced here. */
  readonly trigger: number | undefined;
  readonly perNode: number | undefined;
  readonly namespaceExpressions: NonNullable<LabelSelectorField['matchExpressions']>;
  readonly notes: readonly ImportNote[];
}

const SETTINGS = [
  'useDeviationThresholds',
  'thresholds',
  'targetThresholds',
  'numberOfNodes',
  'metricsUtilization',
  'evictableNamespaces',
  'evictionLimits',
];
const BALANCED = ['cpu', 'memory'];

/** Converts the arguments of LowNodeUtilization. Throws MalformedField for thresholds that the descheduler would refuse too. */
export function convertLowNodeUtilization({ args, argsPath: path }: EnabledPlugin): Balance {
  const isDeviation = args['useDeviationThresholds'] === true;
  const gaps = gapsOf(args, path, isDeviation);
  const balanced = gaps.filter(({ name }) => BALANCED.includes(name));
  const resources = balanced.map(({ name }) => ({ name }));
  const limits = objectAt(args, 'evictionLimits', path) ?? {};
  const namespaces = objectAt(args, 'evictableNamespaces', path) ?? {};
  const source = sourceOf(args, path);
  const trigger = balanced.length === 0 ? undefined : Math.min(...balanced.map(({ points }) => points)) / 100;
  return {
    load: { source: source.source, resources, ...(resources.length > 1 ? { aggregate: 'Dominant' } : {}) },
    trigger,
    perNode: integerAt(limits, 'node', `${path}.evictionLimits`),
    namespaceExpressions: namespaceExpressions(namespaces, `${path}.evictableNamespaces`),
    notes: [
      ...unread(args, SETTINGS, path),
      ...gaps.filter(({ name }) => !BALANCED.includes(name)).map(({ name }) => unbalanced(name, path)),
      ...(trigger === undefined ? [] : [thresholdNote(trigger, path, isDeviation)]),
      ...source.notes,
      ...nodeCount(args, path),
    ],
  };
}

interface Gap {
  readonly name: string;
  /** Percentage points between a node that is to lose pods and one that is to get them. */
  readonly points: number;
}

function gapsOf(args: JsonObject, path: string, isDeviation: boolean): readonly Gap[] {
  const low = new Map(percentagesAt(args, 'thresholds', path));
  const high = percentagesAt(args, 'targetThresholds', path);
  if (low.size === 0 || low.size !== high.length) {
    throw new MalformedField(path, 'thresholds and targetThresholds must name the same resources: write both');
  }
  return high.map(([name, upper]) => {
    const lower = low.get(name);
    if (lower === undefined || (!isDeviation && lower > upper)) {
      const wrong =
        lower === undefined ? `thresholds has no ${name}` : `thresholds.${name} is above targetThresholds.${name}`;
      throw new MalformedField(path, `${wrong}: write percentages with thresholds below targetThresholds`);
    }
    return { name, points: isDeviation ? Math.min(100, lower + upper) : upper - lower };
  });
}

function percentagesAt(args: JsonObject, key: string, path: string): readonly (readonly [string, number])[] {
  return entriesAt(args, key, path).map(([name, value]) => {
    if (typeof value !== 'number' || !(value >= 0 && value <= 100)) {
      throw new MalformedField(
        `${path}.${key}.${name}`,
        `is ${JSON.stringify(value)}: write a percentage from 0 to 100`,
      );
    }
    return [name, value] as const;
  });
}

function unbalanced(name: string, path: string): ImportNote {
  const why = name === 'pods' ? 'the number of pods is not balanced' : `${name} is not balanced`;
  return lost(`${path}.thresholds.${name}`, `${why}, only cpu and memory are; moves keep to what nodes have of it`);
}

function thresholdNote(trigger: number, path: string, isDeviation: boolean): ImportNote {
  const was = isDeviation ? 'deviations from the mean became one distance' : 'two fixed levels became one distance';
  return changed(
    `${path}.thresholds`,
    `${was}: a plan is made when the highest and the lowest node are ${trigger} of capacity apart or more, wherever they stand, and it goes on until they are even`,
  );
}

function sourceOf(
  args: JsonObject,
  path: string,
): { readonly source: Balance['load']['source']; readonly notes: readonly ImportNote[] } {
  const metrics = objectAt(args, 'metricsUtilization', path);
  if (metrics === undefined) {
    return { source: 'Requests', notes: [] };
  }
  const at = `${path}.metricsUtilization`;
  const source = textAt(metrics, 'source', at);
  const isMetricsApi = metrics['metricsServer'] === true || source === 'KubernetesMetrics';
  const notes = unread(metrics, ['metricsServer', 'source', 'prometheus'], at);
  const instead = changed(
    `${at}.source`,
    `load is read from the Metrics API instead of ${source ?? 'nowhere'}: start the operator with the Prometheus server, and write load.source: Prometheus with its name, to go on with a query`,
  );
  return isMetricsApi || (source === undefined && metrics['metricsServer'] === false)
    ? { source: isMetricsApi ? 'MetricsAPI' : 'Requests', notes }
    : { source: 'MetricsAPI', notes: [...notes, instead] };
}

function nodeCount(args: JsonObject, path: string): readonly ImportNote[] {
  const count = integerAt(args, 'numberOfNodes', path) ?? 0;
  return count === 0
    ? []
    : [
        lost(
          `${path}.numberOfNodes`,
          'the number of idle nodes does not matter: write thresholds.consecutive for a cluster that is uneven only for moments',
        ),
      ];
}
