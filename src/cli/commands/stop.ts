import type { ClusterFlags } from '../../app/cluster.ts';
import { Failure } from '../../app/failure.ts';
import type { AddCommand, CommandResult } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';
import { suggestion } from '../suggestion.ts';

/** `evenkeel stop POLICY`: suspends it; moves in flight are verified to their end. */
export const addStop: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('stop'))
    .description('suspend a policy: no new evictions; moves in flight are verified to their end')
    .argument('<policy>', 'name of a RebalancePolicy')
    .addHelpText('after', examples('evenkeel stop default'))
    .action(async (name: string, raw: RawClusterFlags) => print(await stop(name, clusterFlags(raw), signal)));
};

async function stop(name: string, flags: ClusterFlags, signal: AbortSignal): Promise<CommandResult> {
  const { done, withCluster } = await import('../with-cluster.ts');
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
