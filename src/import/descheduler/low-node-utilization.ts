import { integerAt, type JsonObject, MalformedField, objectAt, textAt } from '../../model/json.ts';
import { changed, type ImportNote, lost, unread } from '../note.ts';
import type { ConvertPlugin } from './part.ts';
import { percentagesAt } from './thresholds.ts';

/** What the descheduler calls the result of a query to Prometheus; here it is the load of cpu. */
const METRIC = 'MetricResource';
/** The name that an imported policy calls its Prometheus server by. */
const SERVER = 'main';

/** Converts LowNodeUtilization. */
export const convertLowNodeUtilization: ConvertPlugin = ({ args, argsPath: path }) => {
  const isDeviation = args['useDeviationThresholds'] === true;
  const gaps = gapsOf(args, path, isDeviation);
  const resources = gaps.map(({ name }) => ({ name: name === METRIC ? 'cpu' : name }));
  const perNode = integerAt(objectAt(args, 'evictionLimits', path) ?? {}, 'node', `${path}.evictionLimits`);
  const source = sourceOf(args, path);
  const trigger = Math.min(...gaps.map(({ points }) => points)) / 100;
  return {
    strategy: {
      strategy: { type: 'RefineLB' },
      load: { ...source.load, resources, ...(resources.length > 1 ? { aggregate: 'Dominant' } : {}) },
      thresholds: { trigger: String(Number(trigger.toFixed(6))), consecutive: 1 },
    },
    ...(perNode === undefined ? {} : { perNode }),
    notes: [thresholdNote(trigger, path, isDeviation), ...source.notes, ...nodeCount(args, path)],
  };
};

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

function thresholdNote(trigger: number, path: string, isDeviation: boolean): ImportNote {
  const was = isDeviation ? 'deviations from the mean became one distance' : 'two fixed levels became one distance';
  return changed(
    `${path}.thresholds`,
    `${was}: a plan is made when the highest and the lowest node are ${trigger} of capacity apart or more, wherever they stand, and it goes on until they are even`,
  );
}

interface Source {
  readonly load: {
    readonly source: 'MetricsAPI' | 'Requests' | 'Prometheus';
    readonly prometheus?: { readonly server: string; readonly queries: { readonly node: string } };
  };
  readonly notes: readonly ImportNote[];
}

function sourceOf(args: JsonObject, path: string): Source {
  const metrics = objectAt(args, 'metricsUtilization', path);
  if (metrics === undefined) {
    return { load: { source: 'Requests' }, notes: [] };
  }
  const at = `${path}.metricsUtilization`;
  const source = textAt(metrics, 'source', at);
  const notes = unread(metrics, ['metricsServer', 'source', 'prometheus'], at);
  if (source === 'Prometheus') {
    return byQuery(textAt(objectAt(metrics, 'prometheus', at) ?? {}, 'query', `${at}.prometheus`), at, notes);
  }
  const isMetricsApi = metrics['metricsServer'] === true || source !== undefined;
  return { load: { source: isMetricsApi ? 'MetricsAPI' : 'Requests' }, notes };
}

/** The descheduler finds the name of the node in the label instance; what its query gives is a share of the node, as here. */
function byQuery(query: string | undefined, path: string, notes: readonly ImportNote[]): Source {
  if (query === undefined || query === '') {
    throw new MalformedField(`${path}.prometheus.query`, 'is missing: write the query that gives the load of nodes');
  }
  const node = `label_replace(${query}, "node", "$1", "instance", "(.+)")`;
  const message = `is asked by the operator: start it with --prometheus ${SERVER}=URL; pods count for as much of the load of their node as they use of the CPU that is used there`;
  return {
    load: { source: 'Prometheus', prometheus: { server: SERVER, queries: { node } } },
    notes: [...notes, changed(`${path}.prometheus.query`, message)],
  };
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
