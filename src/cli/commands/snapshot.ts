import type { AddCommand } from '../command.ts';
import { clusterFlags, examples, type RawClusterFlags, withClusterFlags } from '../flags.ts';

/** `evenkeel snapshot` */
export const addSnapshot: AddCommand = (program, { signal, print, screen }) => {
  withClusterFlags(program.command('snapshot'))
    .description('write what plan needs as ordinary Kubernetes objects, to standard output')
    .addHelpText('after', examples('evenkeel snapshot > snapshot.yaml'))
    .action(async (raw: RawClusterFlags) => {
      const { snapshotCommand } = await import('../snapshot.ts');
      print(await snapshotCommand(clusterFlags(raw), screen, signal));
    });
};
