import type { ClusterFlags } from '../../app/cluster.ts';
import { Failure } from '../../app/failure.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, repeatable, withClusterFlags } from '../flags.ts';

/** `evenkeel apply -f FILE`: server-side apply of valid resources of ours, all or none of a file. */
export const addApply: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('apply'))
    .description('validate resources of ours and apply them to the cluster')
    .addOption(
      repeatable('-f, --filename <file>', 'file, folder, or - for standard input; repeatable').makeOptionMandatory(),
    )
    .addHelpText('after', examples('evenkeel apply -f policies/default.yaml', 'evenkeel apply -f - < policy.yaml'))
    .action(async (raw: RawClusterFlags & { filename: readonly string[] }) =>
      print(await apply(raw.filename, clusterFlags(raw), signal)),
    );
};

async function apply(files: readonly string[], flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  const objects = await readObjects(files);
  const { done, withCluster } = await import('../with-cluster.ts');
  return withCluster(flags, async (cluster) => {
    const lines: string[] = [];
    for (const object of objects) {
      lines.push(await cluster.apply(object, signal));
    }
    return done(lines);
  });
}

/** Throws a Failure with every problem of every file. */
async function readObjects(files: readonly string[]): Promise<readonly JsonObject[]> {
  const { expandFolders } = await import('../../adapters/snapshot-file/folders.ts');
  const { formatFileProblem, readResources } = await import('../policy-file.ts');
  const read = await Promise.all((await expandFolders(files)).map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  if (problems.length > 0) {
    throw new Failure(problems.map(formatFileProblem).join('\n'));
  }
  return read.flatMap(({ resources }) => resources.map(({ value }) => value as JsonObject));
}
