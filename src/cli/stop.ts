import type { ClusterFlags } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { CommandResult } from './command.ts';
import { suggestion } from './suggestion.ts';
import { done, withCluster } from './with-cluster.ts';

/** `evenkeel stop POLICY`: suspends it; moves in flight are verified to their end. */
export async function stopCommand(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  return withCluster(flags, async (cluster) => {
    const names = (await cluster.policies.list(signal)).map(({ policy }) => policy.metadata.name);
    if (!names.includes(name)) {
      throw new Failure(`there is no RebalancePolicy ${name}${suggestion(name, names)}`);
    }
    await cluster.suspend(name, signal);
    const hint = `to go on: kubectl patch rbp ${name} --type=merge -p '{"spec":{"suspend":false}}'`;
    return { ...done([`rebalancepolicy.evenkeel.dev/${name} suspended`]), stderr: `${hint}\n` };
  });
}
