import { VERSION } from '../../version.ts';
import type { AddCommand } from '../command.ts';
import { examples } from '../flags.ts';

/** `evenkeel version` */
export const addVersion: AddCommand = (program, { print }) => {
  program
    .command('version')
    .description('print the version')
    .addHelpText('after', examples('evenkeel version'))
    .action(() => print({ stdout: `evenkeel ${VERSION} (Node ${process.version})\n`, exitCode: 0 }));
};
