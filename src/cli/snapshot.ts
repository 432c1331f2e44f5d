import type { ClusterFlags } from '../app/cluster.ts';
import type { CommandResult } from './command.ts';
import { withProgress } from './progress.ts';
import type { Screen } from './screen.ts';
import { withCluster } from './with-cluster.ts';

/** `evenkeel snapshot`: what `evenkeel plan -f` needs, as ordinary Kubernetes objects. */
export async function snapshotCommand(
  flags: ClusterFlags,
  screen: Screen,
  signal: AbortSignal,
): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => ({
    stdout: await withProgress(screen, 'reading the cluster', () => cluster.snapshotText(signal)),
    exitCode: 0,
  }));
}
