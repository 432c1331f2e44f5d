import { LineCounter, parseAllDocuments } from 'yaml';
import { readStdin, readText } from '../adapters/snapshot-file/read-files.ts';
import { isRecord, type Path } from '../api/json-schema.ts';
import { KINDS } from '../api/v1alpha1/kinds.ts';
import type { RebalancePolicy, RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import type { KindDefinition } from '../api/v1alpha1/schema.ts';
import { type FieldProblem, formatProblem, validateResource } from '../api/validate.ts';
import { scheduleProblems } from '../control/schedule.ts';
import { Failure } from './failure.ts';

/** Largest file of our resources that is read. */
const MAX_BYTES = 10 * 1024 * 1024;

/** One problem of a file, where it stands. */
export interface FileProblem {
  readonly file: string;
  /** 1-based; 0 when the problem is about the whole file. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** One of our resources in a file, defaulted. */
export interface FileResource {
  readonly kind: string;
  readonly name: string;
  readonly value: unknown;
}

/** What a file holds. */
export interface ResourceFile {
  readonly resources: readonly FileResource[];
  readonly problems: readonly FileProblem[];
}

/** `policy.yaml:4:9: spec.mode: is "Auto": write one of ...` */
export function formatFileProblem({ file, line, column, message }: FileProblem): string {
  return line === 0 ? `${file}: ${message}` : `${file}:${line}:${column}: ${message}`;
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
    return { resources: [], problems: [{ file, line: 0, column: 0, message: 'is larger than 10 MiB: split it' }] };
  }
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  if (!Array.isArray(documents) || documents.length === 0) {
    return { resources: [], problems: [{ file, line: 0, column: 0, message: 'is empty: write a RebalancePolicy' }] };
  }
  const parsed = documents.map((document) => parseDocument(file, document, lines, extras));
  return { resources: parsed.flatMap((part) => part.resources), problems: parsed.flatMap((part) => part.problems) };
}

type YamlDocument =
  ReturnType<typeof parseAllDocuments> extends readonly (infer Document)[] | infer _ ? Document : never;

function parseDocument(file: string, document: YamlDocument, lines: LineCounter, extras: ExtraKinds): ResourceFile {
  const at = (offset: number | undefined, message: string): FileProblem => {
    const { line, col } = offset === undefined ? { line: 1, col: 1 } : lines.linePos(offset);
    return { file, line, column: col, message };
  };
  if (document.errors.length > 0) {
    return {
      resources: [],
      problems: document.errors.map(({ pos, message }) => at(pos[0], `is not YAML: ${message}`)),
    };
  }
  const object = toObject(document);
  if (object instanceof Error) {
    return { resources: [], problems: [at(undefined, object.message)] };
  }
  const { value, problems } = validateResource(object, [...KINDS, ...extras.kinds]);
  const all = [...problems, ...(problems.length === 0 ? [...timing(value), ...extras.check(value)] : [])];
  const located = all.map((problem) => at(offsetOf(document, problem.path), formatProblem(problem)));
  return { resources: [describe(value)], problems: located };
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

function describe(value: unknown): FileResource {
  const metadata = isRecord(value) ? value['metadata'] : undefined;
  return { kind: textAt(value, 'kind'), name: textAt(metadata, 'name'), value };
}

function textAt(value: unknown, key: string): string {
  const found = isRecord(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : '';
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

/** The one RebalancePolicy of a file. Throws a Failure with everything that is wrong. */
export async function readPolicy(file: string): Promise<RebalancePolicy> {
  const { resources, problems } = await readResources(file);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem).join('\n'));
  }
  const policies = resources.filter(({ kind }) => kind === 'RebalancePolicy');
  const [policy] = policies;
  if (policy === undefined || policies.length > 1) {
    throw new Failure(`${file}: holds ${policies.length} RebalancePolicies: write exactly one`);
  }
  return policy.value as RebalancePolicy;
}
