import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';
import { parseOutput } from '../output-formats.ts';

/** `evenkeel history` */
export const addHistory: AddCommand = (program, { signal, print }) => {
  withClusterFlags(program.command('history'))
    .description('list plans with what they predicted and what was measured')
    .argument('[policy]', 'name of a RebalancePolicy; default all')
    .option('-o, --output <format>', 'table, wide, json, yaml or name', 'table')
    .addHelpText('after', examples('evenkeel history', 'evenkeel history default -o wide'))
    .action(async (policy: string | undefined, raw: RawClusterFlags & { output: string }) => {
      const { historyCommand } = await import('../history.ts');
      print(await historyCommand(policy, parseOutput(raw.output), clusterFlags(raw), signal));
    });
};
