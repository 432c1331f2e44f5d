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
