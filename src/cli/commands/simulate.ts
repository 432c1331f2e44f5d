import { Failure } from '../../app/failure.ts';
import type { AddCommand } from '../command.ts';
import { examples, outputOption, repeatable } from '../flags.ts';
import { SIMULATION_OUTPUTS, type SimulationOutput } from '../output-formats.ts';

interface RawSimulateFlags {
  readonly filename: string;
  readonly policy: readonly string[];
  readonly output: SimulationOutput;
  readonly seed?: string;
}

/** `evenkeel simulate` */
export const addSimulate: AddCommand = (program, { print }) => {
  program
    .command('simulate')
    .description('play a scenario in virtual time, with and without policies, and compare; needs no cluster')
    .requiredOption(
      '-f, --filename <file>',
      'file of a Scenario, with the RebalancePolicies, ServiceClasses and AppGraphs beside it',
    )
    .addOption(
      repeatable('-p, --policy <file>', 'file or folder of a further RebalancePolicy; repeatable').default([], 'none'),
    )
    .option('--seed <number>', 'seed of all that is random; default that of the scenario')
    .addOption(outputOption(SIMULATION_OUTPUTS))
    .addHelpText(
      'after',
      examples(
        'evenkeel simulate -f scenario.yaml',
        'evenkeel simulate -f scenario.yaml -p policy.yaml -o html > report.html',
      ),
    )
    .action(async (raw: RawSimulateFlags) => {
      const seed = parseSeed(raw.seed);
      const { simulateCommand } = await import('../simulate.ts');
      const console = {
        isTerminal: process.stderr.isTTY === true,
        now: () => performance.now(),
        write: (text: string) => void process.stderr.write(text),
      };
      print(await simulateCommand({ file: raw.filename, policies: raw.policy, output: raw.output, seed }, console));
    });
};

function parseSeed(text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) {
    throw new Failure(`--seed ${text} is not a seed: write a whole number with at most nine digits`);
  }
  return text === undefined ? undefined : Number(text);
}
