import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, repeatable, withClusterFlags } from '../flags.ts';

/** `evenkeel apply` */
export const addApply: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('apply'))
    .description('validate resources of ours and apply them to the cluster')
    .addOption(
      repeatable('-f, --filename <file>', 'file, folder, or - for standard input; repeatable').makeOptionMandatory(),
    )
    .addHelpText('after', examples('evenkeel apply -f policies/default.yaml', 'evenkeel apply -f - < policy.yaml'))
    .action(async (raw: RawClusterFlags & { filename: readonly string[] }) => {
      const { applyCommand } = await import('../apply.ts');
      print(await applyCommand(raw.filename, clusterFlags(raw), signal));
    });
};
