import type { AddCommand } from '../command.ts';
import { examples, inputFlags, type RawInputFlags, withInputFlags } from '../flags.ts';

interface RawDashboardFlags extends RawInputFlags {
  readonly address: string;
  readonly port?: string;
}

/** `evenkeel dashboard` */
export const addDashboard: AddCommand = (program, { signal, screen }) => {
  withInputFlags(program.command('dashboard'))
    .description('serve a page with nodes, moves and service levels on this machine, until Ctrl-C; changes nothing')
    .option('--address <host>', 'loopback address to listen on', '127.0.0.1')
    .option('--port <port>', 'port to listen on, 0 for any free one; default 8090 or the next one that is free')
    .addHelpText(
      'after',
      examples(
        'evenkeel dashboard',
        'evenkeel dashboard -p policy.yaml',
        'evenkeel dashboard -f snapshot.yaml -p policy.yaml --port 9000',
      ),
    )
    .action(async (raw: RawDashboardFlags) => {
      const { dashboardCommand } = await import('../dashboard.ts');
      const flags = { ...inputFlags(raw), address: raw.address, port: raw.port };
      const console = {
        screen,
        ready: (url: string) => void screen.write(`${url}\n`),
        warn: (message: string) => void screen.writeError(`warning: ${message}\n`),
      };
      await dashboardCommand(flags, console, signal);
    });
};
