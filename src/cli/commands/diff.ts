import type { AddCommand } from '../command.ts';
import {
  clusterFlags,
  examples,
  outputOption,
  prometheusFlags,
  type RawInputFlags,
  withPrometheusFlags,
  withSnapshotFlags,
} from '../flags.ts';
import { DIFF_OUTPUTS, type DiffOutput } from '../output-formats.ts';

interface RawDiffFlags extends RawInputFlags {
  readonly output: DiffOutput;
  readonly exitCode?: boolean;
}

/** `evenkeel diff` */
export const addDiff: AddCommand = (program, { signal, print, screen }) => {
  withPrometheusFlags(withSnapshotFlags(program.command('diff')))
    .description('plan by two policies from one snapshot, and say which moves appear, vanish and go elsewhere')
    .argument('<old>', 'file of a RebalancePolicy, or the name of one on the cluster or in the snapshot')
    .argument('<new>', 'the same')
    .addOption(outputOption(DIFF_OUTPUTS))
    .option('--exit-code', 'exit with 2 when the moves differ')
    .addHelpText(
      'after',
      examples(
        'evenkeel diff default policies/new.yaml',
        'evenkeel diff old.yaml new.yaml -f snapshot.yaml -o markdown --exit-code',
      ),
    )
    .action(async (old: string, renewed: string, raw: RawDiffFlags) => {
      const { diffCommand } = await import('../diff.ts');
      const flags = {
        ...clusterFlags(raw),
        files: raw.filename,
        prometheus: prometheusFlags(raw),
        policies: [old, renewed] as const,
        output: raw.output,
        exitCode: raw.exitCode === true,
      };
      print(await diffCommand(flags, screen, signal));
    });
};
