import type { AddCommand } from '../command.ts';
import {
  examples,
  inputFlags,
  outputOption,
  type RawInputFlags,
  type RawWatchFlags,
  repeatable,
  withInputFlags,
  withWatchFlags,
} from '../flags.ts';
import { GATE_FIGURES } from '../gate-figures.ts';
import { PLAN_OUTPUTS, type PlanOutput } from '../output-formats.ts';

interface RawPlanFlags extends RawInputFlags, RawWatchFlags {
  readonly namespace?: string;
  readonly selector?: string;
  readonly output: PlanOutput;
  readonly exitCode?: boolean;
  readonly failOn: readonly string[];
}

/** `evenkeel plan` */
export const addPlan: AddCommand = (program, { signal, print, screen }) => {
  withWatchFlags(withInputFlags(program.command('plan')))
    .description('compute a plan from a live cluster or from files; changes nothing')
    .option('-n, --namespace <name>', 'move only pods of this namespace')
    .option('-A, --all-namespaces', 'move pods of all namespaces that the policy selects (the default)')
    .option('-l, --selector <selector>', 'move only pods with these labels, such as "app=web,tier in (front, back)"')
    .addOption(outputOption(PLAN_OUTPUTS))
    .option('--exit-code', 'exit with 2 when moves are needed, 4 when the input is stale or incomplete')
    .addOption(
      repeatable(
        '--fail-on <expression>',
        `exit with 3 when it holds, such as 'imbalance>20%', and with 4 when its figure is unknown; repeatable`,
      ).default([], 'none'),
    )
    .addHelpText('after', `\nFigures of --fail-on:\n${figures()}`)
    .addHelpText(
      'after',
      examples(
        'evenkeel plan -p policy.yaml',
        'kubectl get nodes,pods,pdb -A -o yaml | evenkeel plan -f - -p policy.yaml',
        "evenkeel plan -f snapshot.yaml -p policy.yaml --exit-code --fail-on 'imbalance>0.2'",
        'evenkeel plan -f snapshot.yaml -p policy.yaml -o markdown >> "$GITHUB_STEP_SUMMARY"',
        'evenkeel plan -w',
      ),
    )
    .action(async (raw: RawPlanFlags) => {
      const { planCommand } = await import('../plan.ts');
      const flags = {
        ...inputFlags(raw),
        namespace: raw.namespace,
        selector: raw.selector,
        output: raw.output,
        exitCode: raw.exitCode === true,
        failOn: raw.failOn,
      };
      const { watched } = await import('../watch.ts');
      const watching = { ...flags, watch: raw.watch === true, interval: raw.interval };
      print(await watched(watching, screen, signal, () => planCommand(flags, screen, signal)));
    });
};

function figures(): string {
  return GATE_FIGURES.map(({ name, meaning }) => `  ${name.padEnd(12)}${meaning}`).join('\n');
}
