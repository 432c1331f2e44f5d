import type { Argument, Command, Option } from 'commander';
import type { Cluster } from './cluster.ts';

/** What may stand where the cursor is. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  /** Whether names of files may stand there as well. */
  readonly files: boolean;
}

/** A word, and what it means. */
export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** Looks names up on the cluster that the words before name; the words are those of the command. */
export type NameLookup = (names: Names, words: readonly string[]) => Promise<readonly string[]>;
/** Names that a cluster knows. */
export type Names = 'policies' | 'waiting plans';

const NOTHING: Completion = { candidates: [], files: false };
const FILES: Completion = { candidates: [], files: true };

/** Flags and arguments whose values are names on the cluster, by the command that has them. */
const NAMED: ReadonlyMap<string, Names> = new Map([
  ['approve plan', 'waiting plans'],
  ['stop policy', 'policies'],
  ['history policy', 'policies'],
  ['diff old', 'policies'],
  ['diff new', 'policies'],
  ['--policy', 'policies'],
]);
/** Arguments with a few words to choose from, which commander is not told since messages of ours list them. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([
  ['top what', ['nodes', 'workloads']],
  ['explain target', ['pod/', 'node/']],
]);

/**
 * What may stand at the end of these words, the last of which may be empty or begun, as the tree of commands says it.
 * `lookUp` is asked only where a name of the cluster belongs.
 */
export async function complete(program: Command, words: readonly string[], lookUp: NameLookup): Promise<Completion> {
  const current = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const { command, rest } = descend(program, before);
  const options = command.options.filter(({ hidden }) => !hidden);
  const equals = current.startsWith('--') ? current.indexOf('=') : -1;
  if (equals > 0) {
    const flag = current.slice(0, equals);
    const found = await valuesOf(optionOf(options, flag), () => lookUp('policies', before));
    return only(prefixed(found, `${flag}=`), current);
  }
  const pending = optionOf(options, rest.at(-1) ?? '');
  if (pending?.required === true && !rest.slice(0, -1).includes('--')) {
    return only(await valuesOf(pending, () => lookUp('policies', before)), current);
  }
  if (current.startsWith('-')) {
    return only({ candidates: flagsOf(options), files: false }, current);
  }
  if (command.commands.length > 0) {
    const candidates = visible(command).map((each) => ({ word: each.name(), meaning: each.description() }));
    return only({ candidates, files: false }, current);
  }
  return only(await argumentValues(command, positionals(rest, options), before, lookUp), current);
}

function only({ candidates, files }: Completion, begun: string): Completion {
  return { candidates: candidates.filter(({ word }) => word.startsWith(begun)), files };
}

function prefixed({ candidates, files }: Completion, prefix: string): Completion {
  return { candidates: candidates.map(({ word, meaning }) => ({ word: prefix + word, meaning })), files };
}

function visible(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}

/** The innermost command that the words name, and the words after it. */
function descend(
  program: Command,
  words: readonly string[],
): { readonly command: Command; readonly rest: readonly string[] } {
  const [first, ...others] = words;
  const found = program.commands.find((each) => each.name() === first || each.aliases().includes(first ?? ''));
  return found === undefined ? { command: program, rest: words } : descend(found, others);
}

function optionOf(options: readonly Option[], word: string): Option | undefined {
  return options.find(({ long, short }) => word !== '' && (long === word || short === word));
}

function flagsOf(options: readonly Option[]): readonly Candidate[] {
  const help = { word: '--help', meaning: 'display help for command' };
  return [
    ...options.map(({ long, short, description }) => ({ word: long ?? short ?? '', meaning: description })),
    help,
  ];
}

async function valuesOf(option: Option | undefined, policies: () => Promise<readonly string[]>): Promise<Completion> {
  if (option === undefined) {
    return NOTHING;
  }
  if (option.argChoices !== undefined) {
    return { candidates: option.argChoices.map(wordOnly), files: false };
  }
  if (NAMED.get(option.long ?? '') === 'policies' && option.flags.includes('<policy>')) {
    return { candidates: (await policies()).map(wordOnly), files: true };
  }
  return /<file>/.test(option.flags) ? FILES : NOTHING;
}

function wordOnly(word: string): Candidate {
  return { word, meaning: '' };
}

/** How many of the words are neither flags nor values of flags. */
function positionals(words: readonly string[], options: readonly Option[]): number {
  let place = 0;
  let count = 0;
  while (place < words.length) {
    const word = words[place] ?? '';
    const takesValue = optionOf(options, word)?.required === true;
    count += word.startsWith('-') && word !== '-' ? 0 : 1;
    place += takesValue ? 2 : 1;
  }
  return count;
}

async function argumentValues(
  command: Command,
  place: number,
  before: readonly string[],
  lookUp: NameLookup,
): Promise<Completion> {
  const argument = argumentAt(command, place);
  if (argument === undefined) {
    return NOTHING;
  }
  const key = `${command.name()} ${argument.name()}`;
  const words = argument.argChoices ?? WORDS.get(key);
  if (words !== undefined) {
    return { candidates: words.map(wordOnly), files: false };
  }
  const names = NAMED.get(key);
  const candidates = names === undefined ? [] : (await lookUp(names, before)).map(wordOnly);
  return { candidates, files: ['files', 'old', 'new'].includes(argument.name()) };
}

function argumentAt({ registeredArguments }: Command, place: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[place] ?? (last?.variadic === true ? last : undefined);
}

/** Bits of the directive that ends a completion, as kubectl reads it from the completion of its plugins. */
const NO_SPACE = 2;
const NO_FILES = 4;

/** A completion as the scripts and kubectl read it: a word and its meaning a line, and a directive at the end. */
export function formatCompletion({ candidates, files }: Completion): string {
  const lines = candidates.map(({ word, meaning }) => (meaning === '' ? word : `${word}\t${meaning.split('\n')[0]}`));
  const directive = (files ? 0 : NO_FILES) + (candidates.some(({ word }) => word.endsWith('/')) ? NO_SPACE : 0);
  return `${[...lines, `:${directive}`].join('\n')}\n`;
}

/** Milliseconds after which somebody who has pressed Tab waits no longer. */
const PATIENCE = 2000;

/**
 * Names on the cluster that --kubeconfig and --context among the words name. None when the cluster cannot be asked within two
 * seconds: a completion has no place for a message.
 */
export async function namesOnCluster(names: Names, words: readonly string[]): Promise<readonly string[]> {
  const flagValue = (flag: string): string | undefined => {
    const place = words.indexOf(flag);
    const joined = words.find((word) => word.startsWith(`${flag}=`));
    return joined?.slice(flag.length + 1) ?? (place < 0 ? undefined : words[place + 1]);
  };
  try {
    const { connect } = await import('./cluster.ts');
    const cluster = await connect({ kubeconfig: flagValue('--kubeconfig'), context: flagValue('--context') });
    try {
      return await listed(names, cluster, AbortSignal.timeout(PATIENCE));
    } finally {
      await cluster.close();
    }
  } catch {
    return [];
  }
}

async function listed(names: Names, { plans, policies }: Cluster, signal: AbortSignal): Promise<readonly string[]> {
  if (names === 'policies') {
    return (await policies.list(signal)).map(({ policy }) => policy.metadata.name);
  }
  const waiting = (await plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
  return waiting.map(({ metadata }) => metadata.name);
}
