import { Option } from 'commander';
import type { AddCommand } from '../command.ts';
import {
  clusterFlags,
  examples,
  outputOption,
  type RawInputFlags,
  type RawWatchFlags,
  withSnapshotFlags,
  withWatchFlags,
} from '../flags.ts';
import { VIEW_OUTPUTS, type ViewOutput } from '../output-formats.ts';

interface RawTopFlags extends RawInputFlags, RawWatchFlags {
  readonly policy?: string;
  readonly namespace?: string;
  readonly sortBy?: string;
  readonly limit?: string;
  readonly output: ViewOutput;
}

/** `evenkeel top` */
export const addTop: AddCommand = (program, { signal, print, screen }) => {
  withWatchFlags(withSnapshotFlags(program.command('top')))
    .description(
      'show what nodes and workloads use and request, what workloads were promised and got, and which pods violate a rule',
    )
    .argument('[what]', 'nodes, workloads or violations; default nodes and workloads')
    .option('-n, --namespace <name>', 'show only workloads and violations of this namespace')
    .option(
      '-p, --policy <policy>',
      'of violations: file or folder of a RebalancePolicy, or the name of one on the cluster or in the snapshot; default all',
    )
    .addOption(
      new Option(
        '--sort-by <column>',
        'name, cpu, memory, cpu-requests, memory-requests, pods; workloads also availability, time-to-violate; violations name, node, rule',
      ),
    )
    .option('--limit <rows>', 'show so many rows of each table')
    .addOption(outputOption(VIEW_OUTPUTS))
    .addHelpText(
      'after',
      examples(
        'evenkeel top',
        'evenkeel top nodes --sort-by cpu --limit 10 -w',
        'evenkeel top workloads -n shop --sort-by time-to-violate -o wide',
        'evenkeel top violations --sort-by node',
        'evenkeel top -f snapshot.yaml -o json',
      ),
    )
    .action(async (subject: string | undefined, raw: RawTopFlags) => {
      const { parseLimit, topCommand } = await import('../top.ts');
      const { watched } = await import('../watch.ts');
      const flags = {
        ...clusterFlags(raw),
        files: raw.filename,
        subject,
        policy: raw.policy,
        namespace: raw.namespace,
        sortBy: raw.sortBy,
        limit: raw.limit === undefined ? undefined : parseLimit(raw.limit),
        output: raw.output,
      };
      const watching = { ...flags, watch: raw.watch === true, interval: raw.interval };
      print(await watched(watching, screen, signal, () => topCommand(flags, screen, signal)));
    });
};
