import type { AddCommand } from '../command.ts';
import { examples, outputOption } from '../flags.ts';
import { LINT_OUTPUTS, type LintOutput } from '../output-formats.ts';

/** `evenkeel lint` */
export const addLint: AddCommand = (program, { print }) => {
  program
    .command('lint')
    .description('validate policies, service classes and scenarios offline, with line numbers; exit with 1 for errors')
    .argument('<files...>', 'files or folders, - for standard input')
    .addOption(outputOption(LINT_OUTPUTS))
    .addHelpText('after', examples('evenkeel lint policies/', 'evenkeel lint policies/*.yaml -o sarif > lint.sarif'))
    .action(async (files: readonly string[], { output }: { readonly output: LintOutput }) => {
      const { lintCommand } = await import('../lint.ts');
      print(await lintCommand(files, output));
    });
};
