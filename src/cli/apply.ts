import { isApiError } from '../adapters/kubernetes/api-error.ts';
import type { ApplyOptions, DryRun } from '../adapters/kubernetes/apply.ts';
import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import { escapeText } from '../model/escape.ts';
import type { JsonObject } from '../model/json.ts';
import type { CommandResult } from './command.ts';
import { formatFileProblem, readResources } from './policy-file.ts';
import type { Screen } from './screen.ts';
import { withCluster } from './with-cluster.ts';

/** Flags of `evenkeel apply`. */
export interface ApplyFlags extends ClusterFlags, ApplyOptions {
  readonly files: readonly string[];
}

/** What follows the result of a dry run, as kubectl writes it. */
const DRY_RUN_NOTES: Readonly<Record<DryRun, string>> = {
  none: '',
  server: ' (server dry run)',
  client: ' (dry run)',
};

/** A name that the API server accepts (apimachinery, ValidateFieldManager). */
const PRINTABLE = /^\P{C}{1,128}$/u;

/**
 * Applies the resources of valid files, with a line as soon as each is applied. A conflict does not block the others. Throws a
 * Failure with every problem of every file before anything is sent, and ApiError for what the server refuses.
 */
export async function applyCommand(flags: ApplyFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  checkManager(flags.fieldManager);
  const objects = await readObjects(flags.files);
  return withCluster(flags, async (cluster) => {
    const conflicts: string[] = [];
    for (const object of objects) {
      try {
        const applied = await cluster.apply(object, flags, signal);
        await screen.write(`${escapeText(applied)}${DRY_RUN_NOTES[flags.dryRun]}\n`);
      } catch (error) {
        if (!isApiError(error, 'Conflict') || !error.causes.some(({ reason }) => reason === 'FieldManagerConflict')) {
          throw error;
        }
        conflicts.push(`error: ${error.message}\n`);
      }
    }
    return conflicts.length === 0
      ? { stdout: '', exitCode: 0 }
      : { stdout: '', stderr: `${conflicts.join('')}${WAYS_OUT}\n`, exitCode: 1 };
  });
}

/** What to do about conflicts, as kubectl says it. */
const WAYS_OUT = `The fields above have other managers. Choose one:
* To manage these fields yourself, add --force-conflicts.
* To leave them to their managers, remove them from your file.
* To manage them together, write the values that they have.`;

function checkManager(name: string): void {
  if (!PRINTABLE.test(name)) {
    throw new Failure(
      `--field-manager ${JSON.stringify(name)} is not a name: write 1 to 128 printable characters, such as evenkeel`,
    );
  }
}

/** Throws a Failure with every problem of every file. */
async function readObjects(files: readonly string[]): Promise<readonly JsonObject[]> {
  const read = await Promise.all((await expandFolders(files)).map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem));
  }
  return read.flatMap(({ resources }) => resources.map(({ written }) => written as JsonObject));
}
