import type { ClusterFlags } from './cluster.ts';
import type { CommandResult } from './command.ts';
import { done, withCluster } from './with-cluster.ts';

/** `evenkeel stop POLICY`: suspends it; moves in flight are verified to their end. */
export async function stopCommand(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    await cluster.suspend(name, signal);
    const hint = `to go on: kubectl patch rbp ${name} --type=merge -p '{"spec":{"suspend":false}}'`;
    return { ...done([`rebalancepolicy.evenkeel.dev/${name} suspended`]), stderr: `${hint}\n` };
  });
}
