import type { AddCommand } from '../command.ts';
import {
  clusterFlags,
  examples,
  type RawClusterFlags,
  type RawWaitFlags,
  waitTimeout,
  withClusterFlags,
  withWaitFlags,
} from '../flags.ts';

/** `evenkeel run POLICY`: asks the operator for a run now. */
export const addRun: AddCommand = (program, { signal, screen, print }) => {
  withWaitFlags(
    withClusterFlags(program.command('run')),
    'wait until it has run, and until a plan that is carried out has ended; exit with 1 when that fails, 4 without metrics',
  )
    .description(
      'ask the operator to run a policy now; its mode, budgets, maintenance windows and protections apply as ever',
    )
    .argument('<policy>', 'name of a RebalancePolicy')
    .addHelpText('after', examples('evenkeel run default', 'evenkeel run default --wait --timeout 1h'))
    .action(async (name: string, raw: RawClusterFlags & RawWaitFlags) => {
      const { runCommand } = await import('../run.ts');
      print(await runCommand(name, { ...clusterFlags(raw), timeout: waitTimeout(raw) }, screen, signal));
    });
};
