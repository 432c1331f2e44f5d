import { parseDuration } from '../model/duration.ts';
import { InputError } from '../model/input-error.ts';
import type { TraceSpec } from './scenario-schema.ts';

/** A value at an instant, in seconds since the beginning of the simulation. */
export interface TracePoint {
  readonly at: number;
  readonly value: number;
}

/**
 * How a value goes over time: straight lines between points in the order of their instants, level before the first and
 * after the last. Two points of one instant are a step.
 */
export type Trace = readonly TracePoint[];

/** A value that does not change. */
export function constant(value: number): Trace {
  return [{ at: 0, value }];
}

/** Steps: each value holds from its instant on. */
export function steps(points: Trace): Trace {
  return points.flatMap((point, place) => {
    const before = points[place - 1];
    return before === undefined ? [point] : [{ at: point.at, value: before.value }, point];
  });
}

/** The area under the trace from `from` to `to`, in its unit times seconds; 0 for an empty trace or span. */
export function integral(trace: Trace, from: number, to: number): number {
  const first = trace[0];
  if (first === undefined || to <= from) {
    return 0;
  }
  if (trace.length === 1) {
    return first.value * (to - from);
  }
  let area = first.value * Math.max(0, Math.min(to, first.at) - from);
  for (let place = 1; place < trace.length; place += 1) {
    area += between(trace[place - 1] ?? first, trace[place] ?? first, from, to);
  }
  const last = trace.at(-1) ?? first;
  return area + last.value * Math.max(0, to - Math.max(from, last.at));
}

function between(left: TracePoint, right: TracePoint, from: number, to: number): number {
  const [begin, end] = [Math.max(from, left.at), Math.min(to, right.at)];
  if (end <= begin) {
    return 0;
  }
  const slope = (right.value - left.value) / (right.at - left.at);
  const middle = left.value + slope * ((begin + end) / 2 - left.at);
  return middle * (end - begin);
}

/** Texts of the files that a scenario names, by the names that it uses. */
export type Texts = ReadonlyMap<string, string>;

/**
 * The trace that a scenario writes. `read` turns a value into a number; linear growth ends with the simulation. Throws
 * InputError for a bad line of a file.
 */
export function resolveTrace<Value>(
  spec: TraceSpec<Value>,
  read: (value: Value) => number,
  duration: number,
  texts: Texts,
): Trace {
  if (spec.constant !== undefined) {
    return constant(read(spec.constant));
  }
  if (spec.from !== undefined && spec.to !== undefined) {
    return [
      { at: 0, value: read(spec.from) },
      { at: duration, value: read(spec.to) },
    ];
  }
  if (spec.file !== undefined) {
    return parseTrace(texts.get(spec.file) ?? '', spec.file);
  }
  const points = (spec.steps ?? spec.points ?? []).map(({ at, value }) => ({
    at: parseDuration(at) as number,
    value: read(value),
  }));
  const inOrder = points.toSorted((left, right) => left.at - right.at);
  return spec.steps === undefined ? inOrder : steps(inOrder);
}

/** Lines of `second,value` in base units: millicores, bytes, or requests per second. Throws InputError. */
function parseTrace(text: string, file: string): Trace {
  const points = text.split(/\r?\n/).flatMap((line, index) => {
    const cells = line.split(',').map((cell) => cell.trim());
    const [at, value] = cells.map(Number);
    if (line.trim() === '') {
      return [];
    }
    if (cells.length !== 2 || cells.includes('') || !(Number(at) >= 0) || !(Number(value) >= 0)) {
      throw new InputError(
        file,
        index + 1,
        `${JSON.stringify(line.slice(0, 60))} is no point: write second,value, neither negative`,
      );
    }
    return [{ at: Number(at), value: Number(value) }];
  });
  const misplaced = points.findIndex((point, index) => point.at < (points[index - 1]?.at ?? 0));
  if (points.length === 0 || misplaced >= 0) {
    const wrong =
      points.length === 0 ? 'holds no points: write lines of second,value' : 'goes back in time: sort its lines';
    throw new InputError(file, points.length === 0 ? undefined : misplaced + 1, wrong);
  }
  return points;
}
