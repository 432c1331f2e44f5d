import type { AddCommand } from '../command.ts';
import { examples, inputFlags, outputOption, type RawInputFlags, withInputFlags } from '../flags.ts';
import { VIEW_OUTPUTS, type ViewOutput } from '../output-formats.ts';

interface RawExplainFlags extends RawInputFlags {
  readonly namespace?: string;
  readonly output: ViewOutput;
}

/** `evenkeel explain` */
export const addExplain: AddCommand = (program, { signal, print, screen }) => {
  withInputFlags(program.command('explain'))
    .description('explain why a pod, or the pods of a node, workload or application, stay or move; changes nothing')
    .argument(
      '<target...>',
      'pod/NAME, node/NAME, app/NAME of an AppGraph, or a workload such as deploy/NAME; pod/NAMESPACE/NAME works as -n does',
    )
    .option('-n, --namespace <name>', 'namespace of the pod, workload or AppGraph')
    .addOption(outputOption(VIEW_OUTPUTS))
    .addHelpText(
      'after',
      examples(
        'evenkeel explain pod/web-7d9c-x2x4b -n shop',
        'evenkeel explain node/node-3 -o wide',
        'evenkeel explain deploy/web -n shop',
        'evenkeel explain app/shop/checkout -p traffic',
        'kubectl get nodes,pods,pdb -A -o yaml | evenkeel explain pod/shop/web-1 -f - -p policy.yaml -o json',
      ),
    )
    .action(async (words: readonly string[], raw: RawExplainFlags) => {
      const { explainCommand } = await import('../explain.ts');
      const flags = { ...inputFlags(raw), namespace: raw.namespace, output: raw.output };
      print(await explainCommand(words, flags, screen, signal));
    });
};
