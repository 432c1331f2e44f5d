/**
 * `npm run mutants -- [--count N --seed S --rooms plan,execute --report FILE]`: makes seeded single changes to the sources, one at
 * a time, and asks whether fast tests notice. What does not compile is not counted. Progress goes to stderr; the report to stdout, and line by line to FILE,
 * from which a run that was ended goes on. The exit code is 1 when fewer than 92 % are noticed.
 */
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printTable } from '../support/print-table.ts';
import { createRandom, type Random } from '../support/random.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { createSandbox, type Fate, type Sandbox } from './sandbox.ts';

const TOP = join(import.meta.dirname, '..', '..');
const ROOMS = ['plan', 'execute', 'control', 'qos', 'adapters/kubernetes', 'observe'];
/** Share of the mutations that has to be noticed. */
const GOAL = 0.92;

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '240' },
    seed: { type: 'string', default: '1' },
    rooms: { type: 'string', default: ROOMS.join(',') },
    report: { type: 'string' },
  },
});

interface Outcome {
  readonly room: string;
  readonly place: string;
  readonly change: string;
  readonly fate: Fate;
}

/** The mutations of a room in random order. */
function* shuffled(room: string, { below }: Random): Generator<Mutation, void, undefined> {
  const files = globSync(`src/${room}/**/*.ts`, { cwd: TOP }).sort();
  const all = files.flatMap((file) => mutationsOf(file, readFileSync(join(TOP, file), 'utf8')));
  while (all.length > 0) {
    yield* all.splice(below(all.length), 1);
  }
}

/** `src/plan/search.ts:12:340`: line and offset. */
function placeOf({ file, start }: Mutation): string {
  const line = readFileSync(join(TOP, file), 'utf8').slice(0, start).split('\n').length;
  return `${file}:${line}:${start}`;
}

function readReport(file: string | undefined): readonly Outcome[] {
  return file === undefined || !existsSync(file)
    ? []
    : readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Outcome);
}

function isNoticed({ fate }: Outcome): boolean {
  return fate !== 'Survived';
}

/** So many mutations of a room that compile, with what became of them. */
async function judgeRoom(room: string, count: number, random: Random, sandbox: Sandbox): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const mutation of shuffled(room, random)) {
    if (outcomes.length === count) {
      break;
    }
    const [place, { change }] = [placeOf(mutation), mutation];
    const earlier = known.get(`${place} ${change}`);
    const outcome = earlier ?? { room, place, change, fate: await sandbox.judge(mutation) };
    if (earlier === undefined && values.report !== undefined) {
      appendFileSync(values.report, `${JSON.stringify(outcome)}\n`);
    }
    process.stderr.write(`${outcome.fate}: ${place} ${change}\n`);
    if (outcome.fate !== 'Invalid') {
      outcomes.push(outcome);
    }
  }
  return outcomes;
}

async function judgeAll(): Promise<readonly Outcome[]> {
  const rooms = values.rooms.split(',');
  const random = createRandom(Number(values.seed));
  const sandbox = createSandbox(TOP);
  const outcomes: Outcome[] = [];
  try {
    for (const room of rooms) {
      outcomes.push(...(await judgeRoom(room, Math.ceil(Number(values.count) / rooms.length), random, sandbox)));
    }
  } finally {
    sandbox.remove();
  }
  return outcomes;
}

const known = new Map(readReport(values.report).map((outcome) => [`${outcome.place} ${outcome.change}`, outcome]));
const outcomes = await judgeAll();
const byRoom = Map.groupBy(outcomes, ({ room }) => room);
printTable(
  ['room', 'mutations', 'noticed', 'share'],
  [...byRoom, ['all', outcomes] as const].map(([room, all]) => {
    const noticed = all.filter(isNoticed).length;
    return [room, String(all.length), String(noticed), `${((100 * noticed) / all.length).toFixed(1)} %`];
  }),
);
for (const { place, change } of outcomes.filter((outcome) => !isNoticed(outcome))) {
  process.stdout.write(`not noticed: ${place} ${change}\n`);
}
process.exitCode = outcomes.filter(isNoticed).length >= GOAL * outcomes.length ? 0 : 1;
