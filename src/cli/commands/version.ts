import { VERSION } from '../../version.ts';
import type { AddCommand } from '../command.ts';
import { examples } from '../flags.ts';

/** `evenkeel version` and `evenkeel --version` */
export const addVersion: AddCommand = (program, { print }) => {
  const text = `evenkeel ${VERSION} (Node ${process.version})`;
  program
    .version(text, '--version', 'print the version')
    .command('version')
    .description('print the version')
    .addHelpText('after', examples('evenkeel version'))
    .action(() => print({ stdout: `${text}\n`, exitCode: 0 }));
};
