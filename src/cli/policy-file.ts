import { isMap, isScalar, LineCounter, parseAllDocuments } from 'yaml';
import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import { readStdin, readText } from '../adapters/snapshot-file/read-files.ts';
import { yamlHint } from '../adapters/snapshot-file/yaml-documents.ts';
import { type FieldProblem, isRecord, type Path } from '../api/json-schema.ts';
import { KINDS } from '../api/v1alpha1/kinds.ts';
import type { RebalancePolicy, RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import type { KindDefinition } from '../api/v1alpha1/schema.ts';
import { formatProblem, validateResource } from '../api/validate.ts';
import { Failure } from '../app/failure.ts';
import { scheduleProblems } from '../control/schedule.ts';
import { escapeText } from '../model/escape.ts';

/** Largest file of our resources that is read. */
const MAX_BYTES = 10 * 1024 * 1024;

/** Kinds of problems that a file can have. */
export type ProblemRule = 'file' | 'yaml' | 'unknown-field' | 'schema' | 'schedule' | 'reference';

/** Where something stands. */
export interface FilePlace {
  readonly file: string;
  /** 1-based; 0 when the whole file is meant. */
  readonly line: number;
  readonly column: number;
}

/** One problem of a file, where it stands. */
export interface FileProblem extends FilePlace {
  readonly rule: ProblemRule;
  readonly message: string;
}

/** One of our resources in a file, defaulted. */
export interface FileResource {
  /** Whether nothing is wrong with it, so that `value` conforms to its type. */
  readonly isValid: boolean;
  /** Of its name, or of the document when it has none. */
  readonly place: FilePlace;
  readonly kind: string;
  readonly name: string;
  readonly value: unknown;
  /** The object as the file has it, without defaults. */
  readonly written: unknown;
}

/** What a file holds. */
export interface ResourceFile {
  readonly resources: readonly FileResource[];
  readonly problems: readonly FileProblem[];
}

/** `policy.yaml:4:9: spec.mode: is "Auto": write one of ...` */
export function formatFileProblem({ file, line, column, message }: FilePlace & Pick<FileProblem, 'message'>): string {
  return escapeText(line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`);
}

/** Kinds that a file may hold beside those of the API, and what is wrong with one that its schema allows. */
export interface ExtraKinds {
  readonly kinds: readonly KindDefinition[];
  readonly check: (value: unknown) => readonly FieldProblem[];
}

const NO_EXTRAS: ExtraKinds = { kinds: [], check: () => [] };

/** Our resources in `text`, with everything that is wrong with them, by line. Never throws for what the text says. */
export function parseResources(file: string, text: string, extras: ExtraKinds = NO_EXTRAS): ResourceFile {
  if (text.length > MAX_BYTES) {
    return wholeFile(file, 'is larger than 10 MiB: split it');
  }
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  if (!Array.isArray(documents) || documents.length === 0) {
    return wholeFile(file, 'is empty: write a RebalancePolicy');
  }
  const parsed = documents.map((document) => parseDocument(file, document, lines, extras));
  return { resources: parsed.flatMap((part) => part.resources), problems: parsed.flatMap((part) => part.problems) };
}

function wholeFile(file: string, message: string): ResourceFile {
  return { resources: [], problems: [{ file, line: 0, column: 0, rule: 'file', message }] };
}

type YamlDocument =
  ReturnType<typeof parseAllDocuments> extends readonly (infer Document)[] | infer _ ? Document : never;

function parseDocument(file: string, document: YamlDocument, lines: LineCounter, extras: ExtraKinds): ResourceFile {
  const placeAt = (offset: number | undefined): FilePlace => {
    const { line, col } = offset === undefined ? { line: 1, col: 1 } : lines.linePos(offset);
    return { file, line, column: col };
  };
  if (document.errors.length > 0) {
    const problems = document.errors.map(
      ({ pos, code, message }): FileProblem => ({
        ...placeAt(pos[0]),
        rule: 'yaml',
        message: `is not YAML: ${yamlHint(code) ?? message}`,
      }),
    );
    return { resources: [], problems };
  }
  const object = toObject(document);
  if (object instanceof Error) {
    return { resources: [], problems: [{ ...placeAt(undefined), rule: 'yaml', message: object.message }] };
  }
  const { value, problems } = validateResource(object, [...KINDS, ...extras.kinds]);
  const timed = problems.length === 0 ? timing(value) : [];
  const others = problems.length === 0 ? extras.check(value) : [];
  const located = (found: readonly FieldProblem[], rule: ProblemRule): readonly FileProblem[] =>
    found.map((problem) => ({
      ...placeAt(isUnknownField(problem) ? keyOffset(document, problem.path) : offsetOf(document, problem.path)),
      rule: isUnknownField(problem) ? 'unknown-field' : rule,
      message: formatProblem(problem),
    }));
  const place = placeAt(offsetOf(document, ['metadata', 'name']));
  const all = [...located(problems, 'schema'), ...located(timed, 'schedule'), ...located(others, 'reference')];
  return { resources: [{ place, isValid: all.length === 0, ...describe(value), written: object }], problems: all };
}

function toObject(document: YamlDocument): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    return new Error(`cannot be expanded: ${(error as Error).message}`);
  }
}

function timing(value: unknown): readonly FieldProblem[] {
  if (!isRecord(value) || value['kind'] !== 'RebalancePolicy') {
    return [];
  }
  return scheduleProblems(value['spec'] as RebalancePolicySpec);
}

function describe(value: unknown): Pick<FileResource, 'kind' | 'name' | 'value'> {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  return { kind: textAt(value, 'kind'), name: textAt(metadata, 'name'), value };
}

function textAt(value: unknown, key: string): string {
  const found = isRecord(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
}

function isUnknownField({ message }: FieldProblem): boolean {
  return message.startsWith('unknown field');
}

/** Where the key at the end of `path` stands. */
function keyOffset(document: YamlDocument, path: Path): number | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined;
  return isScalar(pair?.key) ? (pair.key.range?.[0] ?? undefined) : offsetOf(document, path);
}

/** Where the value at `path` stands, or the nearest enclosing one that is there. */
function offsetOf(document: YamlDocument, path: Path): number | undefined {
  for (let depth = path.length; depth >= 0; depth -= 1) {
    const node = depth === 0 ? document.contents : document.getIn(path.slice(0, depth), true);
    const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
    if (range?.[0] !== undefined) {
      return range[0];
    }
  }
  return undefined;
}

/** Our resources in a file, or in standard input for `-`. Throws InputError when it cannot be read. */
export async function readResources(file: string, extras: ExtraKinds = NO_EXTRAS): Promise<ResourceFile> {
  return file === '-'
    ? parseResources('<stdin>', await readStdin(process.stdin), extras)
    : parseResources(file, await readText(file), extras);
}

/** A policy, and the file that it comes from; `undefined` for standard input. */
export interface FilePolicy {
  readonly policy: RebalancePolicy;
  readonly file: string | undefined;
}

/** The one RebalancePolicy of a file or folder. Throws a Failure with everything that is wrong. */
export async function readPolicy(path: string): Promise<FilePolicy> {
  const files = await Promise.all((await expandFolders([path])).map((file) => readResources(file)));
  const problems = files.flatMap((file) => file.problems);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem));
  }
  const policies = files.flatMap(({ resources }) => resources.filter(({ kind }) => kind === 'RebalancePolicy'));
  const [policy, ...others] = policies;
  if (policy === undefined) {
    throw new Failure(`${path}: contains no RebalancePolicy: write one`);
  }
  if (others.length > 0) {
    const names = policies.map(({ name, place }) => `${name} in ${place.file}`).join(', ');
    throw new Failure(
      `${path}: contains ${policies.length} RebalancePolicies (${names}): name a file that contains one`,
    );
  }
  return { policy: policy.value as RebalancePolicy, file: path === '-' ? undefined : policy.place.file };
}
