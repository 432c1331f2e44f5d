import type { Argument, Command, Option } from 'commander';
import type { NameLookup, Names } from './cluster-names.ts';

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

const NOTHING: Completion = { candidates: [], files: false };

/** Flags and arguments whose values are names on the cluster, by the command that has them. */
const NAMED: ReadonlyMap<string, Names> = new Map([
  ['approve plan', 'waiting plans'],
  ['run policy', 'policies'],
  ['stop policy', 'policies'],
  ['history policy', 'policies'],
  ['diff old', 'policies'],
  ['diff new', 'policies'],
  ['--policy <policy>', 'policies'],
  ['--namespace <name>', 'namespaces'],
]);
/** What stands before names of an argument. */
interface Prefix {
  readonly prefix: string;
  readonly names: Names;
}
const PREFIXES: ReadonlyMap<string, readonly Prefix[]> = new Map([
  [
    'explain target',
    [
      { prefix: 'pod/', names: 'pods' },
      { prefix: 'node/', names: 'nodes' },
      { prefix: 'app/', names: 'appgraphs' },
      { prefix: 'deploy/', names: 'deployments' },
      { prefix: 'sts/', names: 'statefulsets' },
      { prefix: 'ds/', names: 'daemonsets' },
    ],
  ],
]);
/** Arguments with a few words to choose from, which commander is not told since messages of ours list them. */
const WORDS: ReadonlyMap<string, readonly string[]> = new Map([['top what', ['nodes', 'workloads', 'violations']]]);

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
    const found = await valuesOf(optionOf(options, flag), before, lookUp);
    return only(prefixed(found, `${flag}=`), current);
  }
  const pending = optionOf(options, rest.at(-1) ?? '');
  if (pending?.required === true && !rest.slice(0, -1).includes('--')) {
    return only(await valuesOf(pending, before, lookUp), current);
  }
  if (current.startsWith('-')) {
    return only({ candidates: flagsOf(options), files: false }, current);
  }
  if (command.commands.length > 0) {
    const candidates = visible(command).map((each) => ({ word: each.name(), meaning: each.description() }));
    return only({ candidates, files: false }, current);
  }
  const argument = argumentAt(command, positionals(rest, options));
  return argument === undefined
    ? NOTHING
    : only(await argumentValues(`${command.name()} ${argument.name()}`, argument, words, lookUp), current);
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

async function valuesOf(
  option: Option | undefined,
  before: readonly string[],
  lookUp: NameLookup,
): Promise<Completion> {
  if (option === undefined) {
    return NOTHING;
  }
  if (option.argChoices !== undefined) {
    return { candidates: option.argChoices.map(wordOnly), files: false };
  }
  const names = NAMED.get(`${option.long} ${/<.*>/.exec(option.flags)?.[0]}`);
  const found = names === undefined ? [] : await lookUp(names, before);
  return { candidates: found.map(wordOnly), files: /<file>|<policy>/.test(option.flags) };
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

/** Values of the argument that `key` names, at the end of `words`. */
async function argumentValues(
  key: string,
  argument: Argument,
  words: readonly string[],
  lookUp: NameLookup,
): Promise<Completion> {
  const fixed = argument.argChoices ?? WORDS.get(key);
  if (fixed !== undefined) {
    return { candidates: fixed.map(wordOnly), files: false };
  }
  const before = words.slice(0, -1);
  const prefixes = PREFIXES.get(key);
  if (prefixes !== undefined) {
    return prefixedNames(prefixes, words.at(-1) ?? '', (names) => lookUp(names, before));
  }
  const names = NAMED.get(key);
  const candidates = names === undefined ? [] : (await lookUp(names, before)).map(wordOnly);
  return { candidates, files: ['files', 'old', 'new'].includes(argument.name()) };
}

/** The prefixes, or behind one that is written already, its names. */
async function prefixedNames(
  prefixes: readonly Prefix[],
  begun: string,
  lookUp: (names: Names) => Promise<readonly string[]>,
): Promise<Completion> {
  const written = prefixes.find(({ prefix }) => begun.startsWith(prefix));
  if (written === undefined) {
    return { candidates: prefixes.map(({ prefix }) => wordOnly(prefix)), files: false };
  }
  const names = await lookUp(written.names);
  return prefixed({ candidates: names.map(wordOnly), files: false }, written.prefix);
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
