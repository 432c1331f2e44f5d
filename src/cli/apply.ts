import { expandFolders } from '../adapters/snapshot-file/folders.ts';
import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { JsonObject } from '../model/json.ts';
import type { CommandResult } from './command.ts';
import { formatFileProblem, readResources } from './policy-file.ts';
import { done, withCluster } from './with-cluster.ts';

/** `evenkeel apply -f FILE`: server-side apply of valid resources of ours, all or none of a file. */
export async function applyCommand(
  files: readonly string[],
  flags: ClusterFlags,
  signal: AbortSignal,
): Promise<CommandResult> {
  const read = await Promise.all((await expandFolders(files)).map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem).join('\n'));
  }
  const resources = read.flatMap((file) => file.resources);
  return withCluster(flags, async (cluster) => {
    const lines: string[] = [];
    for (const { value } of resources) {
      lines.push(await cluster.apply(value as JsonObject, signal));
    }
    return done(lines);
  });
}
