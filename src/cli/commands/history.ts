import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, outputOption, type RawClusterFlags, withClusterFlags } from '../flags.ts';
import { HISTORY_OUTPUTS, type HistoryOutput } from '../output-formats.ts';

/** `evenkeel history` */
export const addHistory: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('history'))
    .description('list plans with what they predicted and what was measured')
    .argument('[policy]', 'name of a RebalancePolicy; default all')
    .addOption(outputOption(HISTORY_OUTPUTS))
    .addHelpText('after', examples('evenkeel history', 'evenkeel history default -o wide'))
    .action(async (policy: string | undefined, raw: RawClusterFlags & { output: HistoryOutput }) => {
      const { historyCommand } = await import('../history.ts');
      print(await historyCommand(policy, raw.output, clusterFlags(raw), signal));
    });
};
