import type { ClusterFlags } from './cluster.ts';
import type { CommandResult } from './command.ts';
import { withCluster } from './with-cluster.ts';

/** `evenkeel snapshot`: what `evenkeel plan -f` needs, as ordinary Kubernetes objects. */
export async function snapshotCommand(flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => ({ stdout: await cluster.snapshotText(signal), exitCode: 0 }));
}
