import { parseDuration } from '../model/duration.ts';
import { InputError } from '../model/input-error.ts';
import type { TraceSpec } from './scenario-schema.ts';
import { constant, steps, type Trace } from './trace.ts';

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
