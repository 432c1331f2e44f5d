import { type Command, Option } from 'commander';
import type { AddCommand } from '../command.ts';
import { examples } from '../flags.ts';
import { IMPORT_OUTPUTS, type ImportOutput } from '../output-formats.ts';

interface RawImportFlags {
  readonly output: ImportOutput;
  readonly exitCode?: boolean;
}

/** `evenkeel import` */
export const addImport: AddCommand = (program, { print }) => {
  const group = program
    .command('import')
    .description('convert the configuration of another tool into Evenkeel resources; says what is lost')
    .addHelpText(
      'after',
      examples(
        'evenkeel import descheduler-policy policy.yaml',
        'evenkeel import openslo slo.yaml',
        'evenkeel import appgroup appgroup.yaml',
      ),
    );
  withImportFlags(group.command('descheduler-policy'))
    .description('convert a DeschedulerPolicy into RebalancePolicies in mode DryRun')
    .argument('<file>', 'the policy, a ConfigMap that holds it, or the values of its Helm chart; - for standard input')
    .addHelpText(
      'after',
      examples(
        'evenkeel import descheduler-policy policy.yaml > rebalance.yaml',
        'kubectl get configmap descheduler -n kube-system -o yaml | evenkeel import descheduler-policy -',
      ),
    )
    .action(async (file: string, raw: RawImportFlags) => {
      const { importDescheduler } = await import('../import.ts');
      print(await importDescheduler(file, { output: raw.output, exitCode: raw.exitCode === true }));
    });
  withImportFlags(group.command('openslo'))
    .description('convert SLOs of OpenSLO into ServiceClasses')
    .argument('<files...>', 'files or folders of SLOs, - for standard input')
    .addHelpText('after', examples('evenkeel import openslo slo.yaml > classes.yaml'))
    .action(async (files: readonly string[], raw: RawImportFlags) => {
      const { importOpenSlo } = await import('../import.ts');
      print(await importOpenSlo(files, { output: raw.output, exitCode: raw.exitCode === true }));
    });
  withImportFlags(group.command('appgroup'))
    .description(
      'convert AppGroups and a NetworkTopology of scheduler-plugins into AppGraphs and a RebalancePolicy in mode DryRun',
    )
    .argument('<files...>', 'files or folders of AppGroups and NetworkTopologies, - for standard input')
    .addHelpText(
      'after',
      examples(
        'evenkeel import appgroup appgroup.yaml topology.yaml > traffic.yaml',
        'kubectl get appgroups,networktopologies -A -o yaml | evenkeel import appgroup -',
      ),
    )
    .action(async (files: readonly string[], raw: RawImportFlags) => {
      const { importAppGroup } = await import('../import.ts');
      print(await importAppGroup(files, { output: raw.output, exitCode: raw.exitCode === true }));
    });
};

function withImportFlags(command: Command): Command {
  return command
    .addOption(new Option('-o, --output <format>', 'how it is written').choices(IMPORT_OUTPUTS).default('yaml'))
    .option('--exit-code', 'exit with 2 when something was lost');
}
