import type { ClusterFlags } from '../../app/cluster.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';

/** `evenkeel stop POLICY`: suspends it; moves in flight are verified to their end. */
export const addStop: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('stop'))
    .description('suspend a policy: no new evictions; moves in flight are verified to their end')
    .argument('<policy>', 'name of a RebalancePolicy')
    .addHelpText('after', examples('evenkeel stop default'))
    .action(async (name: string, raw: RawClusterFlags) => print(await stop(name, clusterFlags(raw), signal)));
};

async function stop(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  const [{ done, withCluster }, { resumeCommand, storedPolicy }] = await Promise.all([
    import('../with-cluster.ts'),
    import('../stored-policy.ts'),
  ]);
  return withCluster(flags, async (cluster) => {
    await storedPolicy(name, cluster, signal); // throws where there is none of that name
    await cluster.suspend(name, signal);
    const suspended = done([`rebalancepolicy.evenkeel.dev/${name} suspended`]);
    return { ...suspended, stderr: `to resume it: ${resumeCommand(name)}\n` };
  });
}
