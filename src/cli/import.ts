import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import { readStdin, readText } from '../adapters/snapshot-file/read-files.ts';
import { parseYamlDocuments } from '../adapters/snapshot-file/yaml-documents.ts';
import type { RebalancePolicySpec } from '../api/v1alpha1/rebalance-policy.ts';
import { formatProblem, validateResource } from '../api/validate.ts';
import { Failure } from '../app/failure.ts';
import { scheduleProblems } from '../control/schedule.ts';
import { convertAppGroups } from '../import/appgroup/convert.ts';
import { convertDescheduler } from '../import/descheduler/convert.ts';
import { unwrap } from '../import/descheduler/wrapped.ts';
import { type Conversion, noteLine } from '../import/note.ts';
import { convertOpenSlo } from '../import/openslo/convert.ts';
import { InputError } from '../model/input-error.ts';
import { MalformedField } from '../model/json.ts';
import { count } from '../plan/format.ts';
import type { CommandResult } from './command.ts';
import { renderJson, renderYaml } from './output.ts';
import type { ImportOutput } from './output-formats.ts';

/** Flags of `evenkeel import`. */
export interface ImportFlags {
  readonly output: ImportOutput;
  /** Exit with 2 when something was lost. */
  readonly exitCode: boolean;
}

/**
 * `evenkeel import descheduler-policy FILE`: RebalancePolicies for a DeschedulerPolicy, a ConfigMap that holds one or the values
 * of its Helm chart. What was lost or changed goes to standard error too. Throws Failure and InputError for people to read.
 */
export async function importDescheduler(file: string, flags: ImportFlags): Promise<CommandResult> {
  const { documents, shown } = await readDocuments(file);
  const [document, ...more] = documents;
  if (more.length > 0) {
    throw new Failure(`${shown}: holds ${documents.length} documents: write one`);
  }
  const parse = (text: string): unknown => parseYamlDocuments(text, `${shown}, data.policy.yaml`)[0]?.value;
  return finish(
    shown,
    flags,
    explained(shown, () => convertDescheduler(unwrap(document, parse))),
  );
}

/** `evenkeel import openslo FILE...`: ServiceClasses for SLOs of OpenSLO. The same as above. */
export function importOpenSlo(paths: readonly string[], flags: ImportFlags): Promise<CommandResult> {
  return importAll(paths, flags, convertOpenSlo);
}

/** `evenkeel import appgroup FILE...`: AppGraphs and a RebalancePolicy for AppGroups and a NetworkTopology. The same as above. */
export function importAppGroup(paths: readonly string[], flags: ImportFlags): Promise<CommandResult> {
  return importAll(paths, flags, convertAppGroups);
}

async function importAll(
  paths: readonly string[],
  flags: ImportFlags,
  convert: (documents: readonly unknown[]) => Conversion,
): Promise<CommandResult> {
  const read = await Promise.all((await expandFolders(paths)).map(readDocuments));
  const documents = read.flatMap((each) => each.documents);
  const shown = read.map((each) => each.shown).join(', ');
  return finish(
    shown,
    flags,
    explained(shown, () => convert(documents)),
  );
}

async function readDocuments(
  file: string,
): Promise<{ readonly documents: readonly unknown[]; readonly shown: string }> {
  const shown = file === '-' ? '<stdin>' : file;
  const text = file === '-' ? await readStdin(process.stdin) : await readText(file);
  const documents = parseYamlDocuments(text, shown).map(({ value }) => value);
  if (documents.length === 0) {
    throw new InputError(shown, undefined, 'is empty: write what is to be converted');
  }
  return { documents, shown };
}

function explained(shown: string, convert: () => Conversion): Conversion {
  try {
    return convert();
  } catch (error) {
    if (error instanceof MalformedField) {
      throw new Failure(`${shown}: ${error.message}`, 1, { cause: error });
    }
    throw error;
  }
}

function finish(shown: string, { output, exitCode }: ImportFlags, conversion: Conversion): CommandResult {
  check(shown, conversion);
  const { resources, notes } = conversion;
  const having = (effect: string) => notes.filter((note) => note.effect === effect).length;
  const lost = having('Lost');
  const summary = `${shown}: ${count(resources.length, 'resource')}; ${count(lost, 'setting')} lost, ${having('Changed')} changed`;
  return {
    stdout: output === 'json' ? renderJson({ resources, notes }) : conversionYaml(conversion),
    stderr: [...notes.map(noteLine), summary].map((line) => `${line}\n`).join(''),
    exitCode: exitCode && lost > 0 ? 2 : 0,
  };
}

/** A conversion as a YAML file: what was lost or changed as comments on top, then one document for each resource. */
function conversionYaml({ resources, notes }: Conversion): string {
  const comments = notes.map((note) => `# ${noteLine(note)}\n`).join('');
  return comments + resources.map((resource) => `---\n${renderYaml(resource)}`).join('');
}

/** What comes out is what the API server takes. Throws a Failure for what the document made impossible. */
function check(shown: string, { resources }: Conversion): void {
  const problems = resources.flatMap((resource) => {
    const { value, problems: found } = validateResource(resource);
    const { kind, metadata, spec } = value as { kind: string; metadata: { name: string }; spec: unknown };
    const timing =
      found.length === 0 && kind === 'RebalancePolicy' ? scheduleProblems(spec as RebalancePolicySpec) : [];
    return [...found, ...timing].map((problem) => `${kind} ${metadata.name}: ${formatProblem(problem)}`);
  });
  if (problems.length > 0) {
    throw new Failure(`${shown}: cannot be converted as it is: ${problems.join('; ')}`);
  }
}
