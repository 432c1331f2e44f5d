import type { AddCommand } from '../command.ts';
import {
  clusterFlags,
  examples,
  outputOption,
  type RawClusterFlags,
  type RawWatchFlags,
  withClusterFlags,
  withWatchFlags,
} from '../flags.ts';
import { HISTORY_OUTPUTS, type HistoryOutput } from '../output-formats.ts';

/** `evenkeel history` */
export const addHistory: AddCommand = (program, { signal, print, screen }) => {
  withWatchFlags(withClusterFlags(program.command('history')))
    .description('list plans with what they predicted and what was measured')
    .argument('[policy]', 'name of a RebalancePolicy; default all')
    .addOption(outputOption(HISTORY_OUTPUTS))
    .addHelpText('after', examples('evenkeel history', 'evenkeel history default -o wide', 'evenkeel history -w'))
    .action(async (policy: string | undefined, raw: RawClusterFlags & RawWatchFlags & { output: HistoryOutput }) => {
      const { historyCommand } = await import('../history.ts');
      const { watched } = await import('../watch.ts');
      const watching = { output: raw.output, files: [], watch: raw.watch === true, interval: raw.interval };
      const flags = { ...clusterFlags(raw), policy, output: raw.output };
      print(await watched(watching, screen, signal, () => historyCommand(flags, screen, signal)));
    });
};
