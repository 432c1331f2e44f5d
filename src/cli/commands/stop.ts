import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';

/** `evenkeel stop` */
export const addStop: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('stop'))
    .description('suspend a policy: no new evictions; moves in flight are verified to their end')
    .argument('<policy>', 'name of a RebalancePolicy')
    .addHelpText('after', examples('evenkeel stop default'))
    .action(async (name: string, raw: RawClusterFlags) => {
      const { stopCommand } = await import('../stop.ts');
      print(await stopCommand(name, clusterFlags(raw), signal));
    });
};
