import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatDuration } from '../../model/duration.ts';
import {
  isObject,
  type JsonObject,
  listAt,
  MalformedField,
  nameAt,
  objectAt,
  objectsAt,
  textAt,
} from '../../model/json.ts';
import { seconds } from '../../model/units.ts';
import { type Conversion, changed, type ImportNote, lost } from '../note.ts';

/** Annotation of an SLO that says which of our importances its class gets; without it they follow from the targets. */
export const IMPORTANCE_ANNOTATION = 'evenkeel.dev/importance';

const API_VERSIONS = ['openslo/v1alpha', 'openslo/v1', 'openslo.com/v2alpha'];
/** Kinds of OpenSLO that say nothing about what is promised to a workload. */
const OTHER_KINDS = ['Service', 'SLI', 'DataSource', 'AlertPolicy', 'AlertCondition', 'AlertNotificationTarget'];

interface Objective {
  readonly name: string;
  /** In [0, 1]. */
  readonly target: number;
  readonly importance: number | undefined;
  readonly window: string | undefined;
  readonly notes: readonly ImportNote[];
}

/**
 * A ServiceClass for each SLO in documents of OpenSLO (openslo/v1alpha, openslo/v1, openslo.com/v2alpha), and what it does not
 * take over. The higher its target, the more important a class is, unless an annotation says otherwise. Throws MalformedField,
 * with the path and what to write, for documents that are no SLOs.
 */
export function convertOpenSlo(documents: readonly unknown[]): Conversion {
  const read = documents.map((document, index) => readDocument(document, documents.length > 1 ? `[${index}].` : ''));
  const objectives = read.flatMap((each) => (each.objective === undefined ? [] : [each.objective]));
  const targets = [...new Set(objectives.map(({ target }) => target))].sort((a, b) => b - a);
  return {
    resources: objectives.map((objective) => ({
      apiVersion: API_VERSION,
      kind: 'ServiceClass',
      metadata: { name: objective.name },
      spec: {
        slo: String(Number(objective.target.toFixed(6))),
        importance: objective.importance ?? targets.indexOf(objective.target) + 1,
        ...(objective.window === undefined ? {} : { window: objective.window }),
      },
    })),
    notes: read.flatMap(({ notes, objective }) => [...notes, ...(objective?.notes ?? [])]),
  };
}

interface ReadDocument {
  readonly objective: Objective | undefined;
  readonly notes: readonly ImportNote[];
}

function readDocument(document: unknown, prefix: string): ReadDocument {
  const apiVersion = isObject(document) ? document['apiVersion'] : undefined;
  if (!isObject(document) || typeof apiVersion !== 'string' || !API_VERSIONS.includes(apiVersion)) {
    throw new MalformedField(
      `${prefix}apiVersion`,
      `is ${JSON.stringify(apiVersion)}: write an SLO of OpenSLO, ${API_VERSIONS.join(', ')}`,
    );
  }
  const kind = textAt(document, 'kind', prefix) ?? '';
  if (OTHER_KINDS.includes(kind)) {
    return {
      objective: undefined,
      notes: [lost(`${prefix}kind`, `${kind} says nothing that a ServiceClass promises`)],
    };
  }
  if (kind !== 'SLO') {
    throw new MalformedField(
      `${prefix}kind`,
      `is ${JSON.stringify(kind)}: write SLO or one of ${OTHER_KINDS.join(', ')}`,
    );
  }
  return { objective: readSlo(document, prefix), notes: [] };
}

function readSlo(document: JsonObject, prefix: string): Objective {
  const metadata = objectAt(document, 'metadata', prefix) ?? {};
  const spec = objectAt(document, 'spec', prefix) ?? {};
  const at = `${prefix}spec`;
  const name = nameAt(metadata, 'name', `${prefix}metadata`);
  const objectives = objectsAt(spec, 'objectives', at);
  const [first, ...more] = objectives;
  if (first === undefined) {
    throw new MalformedField(`${at}.objectives`, 'is missing: write one objective with a target, such as target: 0.99');
  }
  const window = windowOf(spec, at);
  return {
    name,
    target: targetOf(first, `${at}.objectives[0]`),
    importance: importanceOf(metadata, prefix),
    window: window.text,
    notes: [
      ...more.map((_, index) =>
        lost(
          `${at}.objectives[${index + 1}]`,
          `a ServiceClass has one promise: ${name} has that of the first objective`,
        ),
      ),
      ...window.notes,
      ...indicatorNotes(spec, at),
      ...methodNotes(spec, at),
    ],
  };
}

function targetOf(objective: JsonObject, path: string): number {
  const { target, targetPercent } = objective;
  const value = typeof targetPercent === 'number' ? targetPercent / 100 : target;
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) {
    const wrong = JSON.stringify(target ?? targetPercent) ?? 'missing';
    throw new MalformedField(
      path,
      `target is ${wrong}: write target from 0 to 1, such as 0.99, or targetPercent from 0 to 100`,
    );
  }
  return value;
}

function importanceOf(metadata: JsonObject, prefix: string): number | undefined {
  const path = `${prefix}metadata`;
  const text = textAt(objectAt(metadata, 'annotations', path) ?? {}, IMPORTANCE_ANNOTATION, `${path}.annotations`);
  if (text !== undefined && !/^[1-9]\d{0,2}$/.test(text)) {
    const advice = `"${text}" is no importance: write a whole number from 1, the most important, to 999`;
    throw new MalformedField(`${path}.annotations.${IMPORTANCE_ANNOTATION}`, advice);
  }
  return text === undefined ? undefined : Number(text);
}

function indicatorNotes(spec: JsonObject, path: string): readonly ImportNote[] {
  const key = ['indicator', 'indicatorRef', 'sli', 'sliRef'].find((name) => spec[name] !== undefined);
  const service = textAt(spec, 'service', path);
  const whose = service === undefined ? 'its workloads' : `the workloads of ${service}`;
  return [
    changed(
      `${path}.${key ?? 'indicator'}`,
      `availability is the share of time in which pods are Ready, by the API server, not what a query measures; ${whose} get the class by the label evenkeel.dev/service-class on their pod template`,
    ),
  ];
}

function methodNotes(spec: JsonObject, path: string): readonly ImportNote[] {
  const method = textAt(spec, 'budgetingMethod', path);
  return method === undefined || method === 'Timeslices' || method === 'RatioTimeslices'
    ? []
    : [changed(`${path}.budgetingMethod`, `${method} counts requests: a QoSLedger counts seconds of run time`)];
}

const HOUR = 3600;
const SECONDS_PER: Readonly<Record<string, number>> = {
  m: 60,
  h: HOUR,
  d: 24 * HOUR,
  w: 7 * 24 * HOUR,
  M: 30 * 24 * HOUR,
  Q: 90 * 24 * HOUR,
  Y: 365 * 24 * HOUR,
};
/** Units of openslo/v1alpha. */
const UNITS: Readonly<Record<string, string>> = {
  Minute: 'm',
  Hour: 'h',
  Day: 'd',
  Week: 'w',
  Month: 'M',
  Quarter: 'Q',
  Year: 'Y',
};
/** Longest window of a ServiceClass: 30 days. */
const LONGEST = 720 * HOUR;

/** The first time window of an SLO as `spec.window` of a ServiceClass; undefined where it has none. Throws MalformedField. */
function windowOf(
  spec: JsonObject,
  at: string,
): { readonly text: string | undefined; readonly notes: readonly ImportNote[] } {
  const key = spec['timeWindows'] === undefined ? 'timeWindow' : 'timeWindows';
  const [first] = listAt(spec, key, at);
  const path = `${at}.${key}[0]`;
  if (!isObject(first)) {
    return {
      text: undefined,
      notes: [changed(`${at}.${key}`, 'is missing: the promise holds over the default window, 1h')],
    };
  }
  const span = spanOf(first, path);
  const isRolling = first['isRolling'] !== false && first['calendar'] === undefined;
  return {
    text: formatDuration(seconds(Math.min(span, LONGEST))),
    notes: [
      span > LONGEST ? [changed(path, 'is longer than the longest window, which it gets: 720h, 30 days')] : [],
      isRolling ? [] : [changed(path, 'follows the calendar: a window of a ServiceClass always slides')],
    ].flat(),
  };
}

function spanOf({ duration, count, unit }: JsonObject, path: string): number {
  const text = typeof duration === 'string' ? duration : `${String(count)}${UNITS[String(unit)] ?? String(unit)}`;
  const [, number, letter = ''] = /^(\d{1,6})([mhdwMQY])$/.exec(text) ?? [];
  const each = SECONDS_PER[letter];
  if (number === undefined || each === undefined) {
    throw new MalformedField(
      path,
      `"${text}" is no time window: write duration: 28d, with a unit of m, h, d, w, M, Q or Y`,
    );
  }
  return Number(number) * each;
}
