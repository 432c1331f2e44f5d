import { Argument } from 'commander';
import type { AddCommand } from '../command.ts';
import { COMPLETION_SCRIPTS, SHELLS, type Shell } from '../completion-scripts.ts';
import { examples } from '../flags.ts';

const KUBECTL = `
kubectl completes "kubectl evenkeel" when this file is on the PATH as kubectl_complete-evenkeel and may be executed:
  #!/bin/sh
  exec evenkeel __complete "$@"`;

/** `evenkeel completion`, and the hidden command that its scripts ask. */
export const addCompletion: AddCommand = (program, { print }) => {
  program
    .command('completion')
    .description('print the script that completes commands, flags, their values and names in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      examples(
        'source <(evenkeel completion bash)',
        'source <(evenkeel completion zsh)',
        'evenkeel completion fish | source',
      ),
    )
    .addHelpText('after', KUBECTL)
    .action((shell: Shell) => print({ stdout: COMPLETION_SCRIPTS[shell], exitCode: 0 }));
  program
    .command('__complete', { hidden: true })
    .description('print what may stand at the end of these words')
    .argument('[words...]', 'words of a command line, the last of them begun or empty')
    .helpOption(false)
    .allowUnknownOption()
    .passThroughOptions()
    .action(async (words: readonly string[]) => {
      const { complete, formatCompletion } = await import('../complete.ts');
      const { namesOnCluster } = await import('../cluster-names.ts');
      print({ stdout: formatCompletion(await complete(program, words, namesOnCluster)), exitCode: 0 });
    });
};
