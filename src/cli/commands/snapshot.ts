import type { ClusterFlags } from '../../app/cluster.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';
import { withProgress } from '../progress.ts';
import type { Screen } from '../screen.ts';

/** `evenkeel snapshot`: what `evenkeel plan -f` needs, as ordinary Kubernetes objects. */
export const addSnapshot: AddCommand = (program, { signal, print, screen }) => {
  withClusterFlags(program.command('snapshot'))
    .description('write what plan needs as ordinary Kubernetes objects, to standard output')
    .addHelpText('after', examples('evenkeel snapshot > snapshot.yaml'))
    .action(async (raw: RawClusterFlags) => print(await snapshot(clusterFlags(raw), screen, signal)));
};

async function snapshot(flags: ClusterFlags, screen: Screen, signal: AbortSignal): Promise<CommandResult> {
  const [{ withCluster }, { missingLoad }] = await Promise.all([
    import('../with-cluster.ts'),
    import('../missing-load.ts'),
  ]);
  return withCluster(flags, async (cluster) => {
    const file = await withProgress(screen, 'reading the cluster', () => cluster.snapshotFile(signal));
    return { stdout: file.text, stderr: missingLoad(file), exitCode: 0 };
  });
}
