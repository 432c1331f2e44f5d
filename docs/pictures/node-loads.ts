import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseObjects } from '../../src/adapters/snapshot-file/read-files.ts';
import { validatePolicy } from '../../src/api/validate.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { buildSnapshot } from '../../src/observe/snapshot-builder.ts';
import type { Move } from '../../src/plan/plan.ts';
import { plan } from '../../src/plan/planner.ts';
import { resolveOptions } from '../../src/plan/resolve-options.ts';
import { at, bar, COLOURS, line, picture, text } from './svg.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples');
const LEFT = 80;
const SPAN = 560;
const ROW = 58;
const FIRST = 52;

/** CPU of each node of examples/snapshot before the plan by examples/policies, and as planned. */
export function nodeLoads(): string {
  const read = (path: string): readonly unknown[] => parseObjects(readFileSync(join(EXAMPLES, path), 'utf8'), path);
  const snapshot = buildSnapshot(read('snapshot/cluster.yaml'));
  const [document] = read('policies/default.yaml');
  const { value: policy, problems } = validatePolicy(document);
  if (problems.length > 0) {
    throw new Error('examples/policies/default.yaml is not valid: run evenkeel lint on it');
  }
  const { moves } = plan(snapshot, resolveOptions(policy.spec));
  const rows = loadsOf(snapshot, moves);
  const floor = FIRST + ROW * rows.length;
  const grid = [0, 0.25, 0.5, 0.75, 1].flatMap((share) => [
    line(`M${at(LEFT + SPAN * share)} ${FIRST - 8}V${floor - 8}`, { width: 0.5 }),
    text(LEFT + SPAN * share, floor + 10, `${100 * share} %`, { anchor: 'middle', size: 12 }),
  ]);
  const bars = rows.flatMap(({ name, before, planned }, index) => {
    const y = FIRST + ROW * index;
    return [
      text(LEFT - 10, y + 25, name, { anchor: 'end' }),
      bar(LEFT, y, SPAN * before, 18, COLOURS[1], 0.55),
      text(LEFT + SPAN * before + 6, y + 14, percent(before), { size: 12 }),
      bar(LEFT, y + 21, SPAN * planned, 18, COLOURS[0]),
      text(LEFT + SPAN * planned + 6, y + 35, percent(planned), { size: 12 }),
    ];
  });
  const said = rows.map(({ name, before, planned }) => `${name} ${percent(before)}, planned ${percent(planned)}`);
  const key = [
    bar(LEFT, 14, 14, 14, COLOURS[1], 0.55),
    text(LEFT + 20, 26, 'before'),
    bar(LEFT + 90, 14, 14, 14, COLOURS[0]),
    text(LEFT + 110, 26, `as planned, ${moves.length} moves`),
  ];
  return picture(720, floor + 24, `CPU of the nodes: ${said.join('; ')}`, [...key, ...grid, ...bars]);
}

interface NodeLoad {
  readonly name: string;
  /** Fractions of the node's allocatable CPU. */
  readonly before: number;
  readonly planned: number;
}

function loadsOf({ nodes, usage }: ClusterSnapshot, moves: readonly Move[]): readonly NodeLoad[] {
  const capacity = new Map(nodes.map(({ name, allocatable }) => [name, allocatable.cpu]));
  return nodes.map(({ name, allocatable }) => {
    const before = (usage?.nodes.get(name)?.cpu ?? 0) / allocatable.cpu;
    const change = moves.reduce((sum, { from, to, load }) => {
      const cores = load * (capacity.get(from ?? '') ?? 0);
      return sum + (to === name ? cores : 0) - (from === name ? cores : 0);
    }, 0);
    return { name, before, planned: before + change / allocatable.cpu };
  });
}

function percent(load: number): string {
  return `${(100 * load).toFixed(1)} %`;
}
