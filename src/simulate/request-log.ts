import { SCHEDULING_GATE } from '../model/gate.ts';
import { InputError } from '../model/input-error.ts';
import type { Interner } from '../observe/interner.ts';
import { CLASS_LABEL } from '../qos/class-of.ts';
import { makeWorkload } from './parts.ts';
import type { WorkloadSpec } from './scenario.ts';

/** A request of a published log (QoS, validation 1). */
export interface LoggedRequest {
  /** Seconds after the beginning. */
  readonly second: number;
  readonly id: string;
  readonly priority: number;
  /** Seconds that it lasts. */
  readonly duration: number;
  /** Cores, and the same share of memory in GiB. */
  readonly cpu: number;
  readonly memory: number;
  readonly className: string;
  readonly slo: number;
}

const COLUMNS = [
  'second',
  'id',
  'job',
  'user',
  'anti-affinity',
  'priority',
  'duration',
  'reserved',
  'cpu',
  'memory',
  'class name',
  'SLO',
] as const;

/**
 * The requests of a file with one line each: second, id, job, user, anti-affinity, priority, duration, a column that is not
 * used, cpu, memory, class name, SLO. Throws InputError with the line and what to write instead.
 */
export function parseRequestLog(text: string, file: string): readonly LoggedRequest[] {
  const requests = text
    .split(/\r?\n/)
    .flatMap((line, index) => (line.trim() === '' ? [] : [parseLine(line, file, index + 1)]));
  if (requests.length === 0) {
    throw new InputError(file, undefined, `holds no requests: write lines of ${COLUMNS.join(', ')}`);
  }
  const seen = new Set<string>();
  requests.forEach(({ id }, index) => {
    if (seen.has(id)) {
      throw new InputError(file, index + 1, `id ${JSON.stringify(id)} appears twice: give each request its own`);
    }
    seen.add(id);
  });
  return requests;
}

function parseLine(line: string, file: string, number: number): LoggedRequest {
  const cells = line.split(',').map((cell) => cell.trim());
  if (cells.length !== COLUMNS.length) {
    const found = `has ${cells.length} columns: write ${COLUMNS.length}, namely ${COLUMNS.join(', ')}`;
    throw new InputError(file, number, found);
  }
  const amount = (column: (typeof COLUMNS)[number], most = Number.MAX_SAFE_INTEGER): number => {
    const cell = cells[COLUMNS.indexOf(column)] ?? '';
    const value = Number(cell);
    if (cell === '' || !Number.isFinite(value) || value < 0 || value > most) {
      const range = most === Number.MAX_SAFE_INTEGER ? 'a number that is not negative' : `a number from 0 to ${most}`;
      throw new InputError(file, number, `${column} is ${JSON.stringify(cell)}: write ${range}`);
    }
    return value;
  };
  const name = (column: (typeof COLUMNS)[number]): string => {
    const cell = cells[COLUMNS.indexOf(column)] ?? '';
    if (!/^[a-z0-9]([-a-z0-9]{0,50}[a-z0-9])?$/.test(cell)) {
      const wanted = 'write a name of lower-case letters, digits and "-", at most 52 characters';
      throw new InputError(file, number, `${column} is ${JSON.stringify(cell)}: ${wanted}`);
    }
    return cell;
  };
  return {
    second: amount('second'),
    id: name('id'),
    priority: amount('priority', 1_000_000_000),
    duration: amount('duration'),
    cpu: amount('cpu'),
    memory: amount('memory'),
    className: name('class name'),
    slo: amount('SLO', 1),
  };
}

/** Each request as a workload of one pod with its class, its priority and our scheduling gate. */
export function workloadsOf(requests: readonly LoggedRequest[], interner: Interner): readonly WorkloadSpec[] {
  return requests.map((request) => {
    const { id, second, priority, duration, cpu, memory, className } = request;
    const resources = { requests: { cpu: `${Math.round(cpu * 1000)}m`, memory: `${Math.round(memory * 1024)}Mi` } };
    return makeWorkload(
      {
        name: `request-${id}`,
        arrivesAt: second,
        endsAfter: duration,
        template: {
          metadata: { labels: { app: `request-${id}`, [CLASS_LABEL]: className } },
          spec: {
            priority,
            schedulingGates: [{ name: SCHEDULING_GATE }],
            containers: [{ name: 'main', image: 'request:1', resources }],
          },
        },
      },
      interner,
    );
  });
}

/** Classes of the requests with their SLOs, from the highest priority to the lowest. Throws InputError when one has two SLOs. */
export function classesIn(
  requests: readonly LoggedRequest[],
  file: string,
): readonly { readonly name: string; readonly slo: number }[] {
  const found = new Map<string, LoggedRequest>();
  requests.forEach((request, index) => {
    const known = found.get(request.className);
    if (known !== undefined && known.slo !== request.slo) {
      const message = `class ${request.className} has the SLO ${request.slo} here and ${known.slo} before: write one of them`;
      throw new InputError(file, index + 1, message);
    }
    found.set(request.className, known ?? request);
  });
  return [...found.values()]
    .sort((left, right) => right.priority - left.priority)
    .map(({ className, slo }) => ({ name: className, slo }));
}
