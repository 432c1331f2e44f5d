import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';

/** `evenkeel approve` */
export const addApprove: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('approve'))
    .description('let the operator carry out a plan that waits for approval')
    .argument('<plan>', 'name of a RebalancePlan')
    .addHelpText('after', examples('evenkeel approve default-4f1c2a9b03'))
    .action(async (name: string, raw: RawClusterFlags) => {
      const { approveCommand } = await import('../approve.ts');
      print(await approveCommand(name, clusterFlags(raw), signal));
    });
};
