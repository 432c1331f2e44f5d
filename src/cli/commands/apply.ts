import { Option } from 'commander';
import type { ClusterFlags } from '../../app/cluster.ts';
import type { ApplyFlags } from '../apply.ts';
import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, repeatable, withClusterFlags } from '../flags.ts';

interface RawApplyFlags extends RawClusterFlags {
  readonly filename: readonly string[];
  readonly fieldManager: string;
  readonly forceConflicts: boolean;
  readonly dryRun: ApplyFlags['dryRun'];
}

/** `evenkeel apply -f FILE`: server-side apply of valid resources of ours. */
export const addApply: AddCommand = (program, { signal, screen, print }) => {
  withClusterFlags(program.command('apply'))
    .description('validate Evenkeel resources and apply them to the cluster by server-side apply')
    .addOption(
      repeatable('-f, --filename <file>', 'file, folder, or - for standard input; repeatable').makeOptionMandatory(),
    )
    .option('--field-manager <name>', 'name under which the API server notes who manages the fields', 'evenkeel')
    .option('--force-conflicts', 'become the manager of fields that other managers have set', false)
    .addOption(
      new Option('--dry-run [how]', 'server: the API server checks the resources and stores nothing; client: only read')
        .choices(['none', 'server', 'client'])
        .preset('client')
        .default('none'),
    )
    .addHelpText(
      'after',
      examples(
        'evenkeel apply -f policies/default.yaml',
        'evenkeel apply -f policies/ --dry-run=server',
        'evenkeel apply -f - < policy.yaml',
      ),
    )
    .action(async (raw: RawApplyFlags) => {
      const { applyCommand } = await import('../apply.ts');
      const { filename: files, fieldManager, forceConflicts: force, dryRun } = raw;
      const flags: ClusterFlags = clusterFlags(raw);
      print(await applyCommand({ ...flags, files, fieldManager, force, dryRun }, screen, signal));
    });
};
