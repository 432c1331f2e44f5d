import type { AddCommand } from '../command.ts';
import { examples } from '../flags.ts';

/** `evenkeel lint` */
export const addLint: AddCommand = (program, { print }) => {
  program
    .command('lint')
    .description('validate resources of ours offline')
    .argument('<files...>', 'files, - for standard input')
    .addHelpText('after', examples('evenkeel lint policies/*.yaml'))
    .action(async (files: readonly string[]) => {
      const { lintCommand } = await import('../lint.ts');
      print(await lintCommand(files));
    });
};
