/**
 * `npm run mutants -- [--count N --seed S --rooms plan,execute --report FILE]`: makes seeded single changes to the sources, one
 * at a time, and asks whether the fast tests that evaluate what was changed notice. What does not compile is not counted.
 * Progress goes to stderr; the report to stdout, and line by line to FILE, from which a run that was ended goes on. The exit
 * code is 1 when fewer than 92 % are noticed.
 */
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runConcurrently } from '../../src/model/concurrent.ts';
import { printTable } from '../support/print-table.ts';
import { createRandom, type Random } from '../support/random.ts';
import { likelyTests } from './likely.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import { createSandbox, endTools, type Fate, type Sandbox } from './sandbox.ts';

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
  /** A line of the report may also say that the mutation compiles, or that it does not, or that the likely tests do not notice it. */
  readonly fate: Fate | 'Compiles' | 'Invalid' | 'Unlikely';
}

/** A mutation that compiles. */
interface Candidate extends Omit<Outcome, 'fate'> {
  readonly mutation: Mutation;
}

/** The mutations of a room in random order. */
function* shuffled(room: string, { below }: Random): Generator<Candidate, void, undefined> {
  const files = globSync(`src/${room}/**/*.ts`, { cwd: TOP }).sort();
  const all = files.flatMap((file) => mutationsOf(file, readFileSync(join(TOP, file), 'utf8')));
  while (all.length > 0) {
    for (const mutation of all.splice(below(all.length), 1)) {
      yield { room, place: placeOf(mutation), change: mutation.change, mutation };
    }
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

function keyOf({ place, change }: Omit<Outcome, 'fate'>): string {
  return `${place} ${change}`;
}

function isNoticed({ fate }: Outcome): boolean {
  return fate === 'Noticed' || fate === 'TimedOut';
}

/** Notes the fate of a mutation and says it. */
function note({ room, place, change }: Candidate, fate: Outcome['fate']): Outcome {
  const outcome = { room, place, change, fate };
  if (values.report !== undefined) {
    appendFileSync(values.report, `${JSON.stringify(outcome)}\n`);
  }
  process.stderr.write(`${fate}: ${place} ${change}\n`);
  known.set(keyOf(outcome), outcome);
  return outcome;
}

/** The first candidate of each file, then the second, and so on. */
function onePerFile<Each extends Candidate>(candidates: readonly Each[]): readonly (readonly Each[])[] {
  const byFile = [...Map.groupBy(candidates, ({ mutation }) => mutation.file).values()];
  const rounds = Math.max(0, ...byFile.map((all) => all.length));
  return Array.from({ length: rounds }, (_, round) => byFile.flatMap((all) => all.slice(round, round + 1)));
}

/**
 * So many mutations of a room that compile. Twice as many are tried at once: compiling them together takes a fraction of the
 * time, and about a third does not compile.
 */
async function draw(room: string, count: number, sandbox: Sandbox): Promise<readonly Candidate[]> {
  const drawn: Candidate[] = [];
  const all = [...shuffled(room, createRandom(Number(values.seed)))];
  while (drawn.length < count && all.length > 0) {
    const tried = all.splice(0, 2 * (count - drawn.length));
    for (const round of onePerFile(tried.filter((candidate) => !known.has(keyOf(candidate))))) {
      const compiling = await sandbox.compiling(round.map(({ mutation }) => mutation));
      for (const candidate of round) {
        note(candidate, compiling.has(candidate.mutation) ? 'Compiles' : 'Invalid');
      }
    }
    drawn.push(...tried.filter((candidate) => known.get(keyOf(candidate))?.fate !== 'Invalid'));
  }
  return drawn.slice(0, count);
}

/** Does something with each of them, in as many sandboxes at the same time as there are. */
async function inSandboxes<T>(
  all: readonly T[],
  sandboxes: readonly Sandbox[],
  judge: (each: T, sandbox: Sandbox) => Promise<unknown>,
): Promise<void> {
  const free = [...sandboxes];
  await runConcurrently(all, sandboxes.length, new AbortController().signal, async (each) => {
    for (const sandbox of free.splice(0, 1)) {
      await judge(each, sandbox);
      free.push(sandbox);
    }
  });
}

/** Asks a few tests of each mutation first, which notice most: what every other test evaluates takes long to find out. */
async function judgeLikely(candidates: readonly Candidate[], sandboxes: readonly Sandbox[]): Promise<void> {
  const testsOf = likelyTests(TOP);
  const untried = candidates.filter((candidate) => known.get(keyOf(candidate))?.fate !== 'Unlikely');
  await inSandboxes(untried, sandboxes, async (candidate, sandbox) => {
    const fate = await sandbox.judge(candidate.mutation, testsOf(candidate.mutation.file));
    note(candidate, fate === 'Noticed' || fate === 'TimedOut' ? fate : 'Unlikely');
  });
}

/** Asks all tests of the mutations that are left, of as many at once as are of different files. */
async function judgeByAll(
  candidates: readonly Candidate[],
  sandboxes: readonly [Sandbox, ...Sandbox[]],
): Promise<void> {
  const [first] = sandboxes;
  const tests = await first.testsOf(candidates.map(({ mutation }) => mutation));
  const judged = candidates.map((candidate, index) => ({ ...candidate, tests: tests[index] ?? [] }));
  const groups = onePerFile(judged).flatMap((round) => {
    const half = Math.ceil(round.length / 2);
    return [round.slice(0, half), round.slice(half)].filter((group) => group.length > 0);
  });
  await inSandboxes(groups, sandboxes, (group, sandbox) => sandbox.judgeTogether(group, note));
}

async function judgeAll(sandboxes: readonly [Sandbox, ...Sandbox[]]): Promise<readonly Outcome[]> {
  const [first] = sandboxes;
  const rooms = values.rooms.split(',');
  const drawn: Candidate[] = [];
  const share = Math.ceil(Number(values.count) / rooms.length);
  for (const room of rooms) {
    drawn.push(...(await draw(room, share, first)));
  }
  // The rooms in turn, so that a run that is ended has judged as many of each.
  const inTurn = drawn.toSorted((a, b) => (drawn.indexOf(a) % share) - (drawn.indexOf(b) % share));
  const fresh = inTurn.filter((candidate) =>
    ['Compiles', 'Unlikely'].includes(known.get(keyOf(candidate))?.fate ?? 'Compiles'),
  );
  process.stderr.write(`${drawn.length} mutations, ${fresh.length} of them to be judged\n`);
  await judgeLikely(fresh, sandboxes);
  const left = fresh.filter((candidate) => known.get(keyOf(candidate))?.fate === 'Unlikely');
  await judgeByAll(left, sandboxes);
  return drawn.flatMap((candidate) => known.get(keyOf(candidate)) ?? []);
}

const known = new Map(readReport(values.report).map((outcome) => [keyOf(outcome), outcome]));
/** One for each of two cores: tests of a mutation run one after another. */
const sandboxes = [createSandbox(TOP), createSandbox(TOP)] as const;
const removeAll = (): void => {
  for (const sandbox of sandboxes) {
    sandbox.remove();
  }
};
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    endTools();
    removeAll();
    process.exit(1);
  });
}
const outcomes = await judgeAll(sandboxes).finally(removeAll);
const byRoom = Map.groupBy(outcomes, ({ room }) => room);
printTable(
  ['room', 'mutations', 'noticed', 'share'],
  [...byRoom, ['all', outcomes] as const].map(([room, all]) => {
    const noticed = all.filter(isNoticed).length;
    return [room, String(all.length), String(noticed), `${((100 * noticed) / all.length).toFixed(1)} %`];
  }),
);
for (const { place, change, fate } of outcomes.filter((outcome) => !isNoticed(outcome))) {
  process.stdout.write(`${fate}: ${place} ${change}\n`);
}
process.exitCode = outcomes.filter(isNoticed).length >= GOAL * outcomes.length ? 0 : 1;
