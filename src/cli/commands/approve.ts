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

/** `evenkeel approve PLAN`: lets the operator carry out a plan that waits for approval. */
export const addApprove: AddCommand = (program, { signal, screen, print }) => {
  withWaitFlags(
    withClusterFlags(program.command('approve')),
    'wait until the plan has ended; exit with 1 when it fails',
  )
    .description('show the moves of a plan that awaits approval, ask, and approve it')
    .argument('<plan>', 'name of a RebalancePlan')
    .option('-y, --yes', 'approve without asking, as scripts need it', false)
    .addHelpText(
      'after',
      examples('evenkeel approve default-4f1c2a9b03', 'evenkeel approve default-4f1c2a9b03 --yes --wait'),
    )
    .action(async (name: string, raw: RawClusterFlags & RawWaitFlags & { readonly yes: boolean }) => {
      const { approveCommand } = await import('../approve.ts');
      const flags = { ...clusterFlags(raw), yes: raw.yes, timeout: waitTimeout(raw) };
      print(await approveCommand(name, flags, process.stdin, screen, signal));
    });
};
