import { Command, CommanderError, Option } from 'commander';
import { ApiError } from './adapters/kubernetes/api-error.ts';
import { ConnectError } from './adapters/kubernetes/connect-error.ts';
import { InputError } from './adapters/snapshot-file/input-error.ts';
import type { ClusterFlags } from './cli/cluster.ts';
import {
  applyCommand,
  approveCommand,
  historyCommand,
  lintCommand,
  snapshotCommand,
  stopCommand,
} from './cli/drive.ts';
import { explainCommand } from './cli/explain.ts';
import { Failure } from './cli/failure.ts';
import type { InputFlags } from './cli/input.ts';
import { parseOutput } from './cli/output.ts';
import { type CommandResult, planCommand } from './cli/plan.ts';
import { SIMULATION_OUTPUTS, type SimulateFlags, simulateCommand } from './cli/simulate.ts';
import { type OperatorFlags, runOperator } from './operator.ts';
import { VERSION } from './version.ts';

/** Runs the command line `argv` (without node and script). Resolves to the exit code; prints, never throws for users' mistakes. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const interrupt = (): void => stop.abort(new Failure('interrupted', 130));
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  let result: CommandResult = { stdout: '', exitCode: 0 };
  try {
    const program = buildProgram(stop.signal, (produced) => {
      result = produced;
    });
    await program.parseAsync([...argv], { from: 'user' });
    await write(process.stderr, result.stderr ?? '');
    await write(process.stdout, result.stdout);
    return result.exitCode;
  } catch (error) {
    return explain(error);
  } finally {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
}

function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  return new Promise((resolve) => {
    if (text === '') {
      resolve();
    } else {
      stream.write(text, () => resolve());
    }
  });
}

/** One message and an exit code for what went wrong; a bug keeps its stack trace. */
function explain(error: unknown): number {
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? 0 : 1;
  }
  if (error instanceof Failure) {
    process.stderr.write(`error: ${error.message}\n`);
    return error.exitCode;
  }
  if (error instanceof ApiError && error.kind === 'NotServed' && error.message.includes('evenkeel.dev')) {
    process.stderr.write(`error: ${error.message}: install them with kubectl apply -k deploy/overlays/default\n`);
    return 1;
  }
  if (error instanceof InputError || error instanceof ApiError || error instanceof ConnectError) {
    process.stderr.write(`error: ${error.message}\n`);
    return 1;
  }
  process.stderr.write(
    `evenkeel has a bug; please report this:\n${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return 1;
}

type Print = (result: CommandResult) => void;

function buildProgram(signal: AbortSignal, print: Print): Command {
  const program = new Command('evenkeel')
    .description('Keeps a Kubernetes cluster on an even keel. Also found by kubectl as kubectl evenkeel.')
    .showHelpAfterError('(evenkeel --help and evenkeel COMMAND --help list what there is)')
    .exitOverride();
  addPlan(program, signal, print);
  addExplain(program, signal, print);
  addSnapshot(program, signal, print);
  addDriving(program, signal, print);
  addSimulate(program, print);
  addLint(program, print);
  addOperator(program, signal);
  program
    .command('version')
    .description('print the version')
    .action(() => print({ stdout: `evenkeel ${VERSION} (Node ${process.version})\n`, exitCode: 0 }));
  return program;
}

function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig file; default KUBECONFIG, ~/.kube/config, or the pod that it runs in')
    .option('--context <name>', 'context of the kubeconfig; default its current one');
}

interface RawClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

function clusterFlags({ kubeconfig, context }: RawClusterFlags): ClusterFlags {
  return { kubeconfig, context };
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

function outputOption(fallback: string): Option {
  return new Option('-o, --output <format>', 'table, wide, json, yaml, markdown or name').default(fallback);
}

interface RawInputFlags extends RawClusterFlags {
  readonly filename: readonly string[];
  readonly policy?: string;
}

function withInputFlags(command: Command): Command {
  return withClusterFlags(command)
    .option(
      '-f, --filename <file>',
      'snapshot file of ordinary Kubernetes objects, - for standard input; repeatable',
      collect,
      [],
    )
    .option('-p, --policy <policy>', 'file of a RebalancePolicy, or the name of one on the cluster or in the snapshot');
}

function inputFlags(raw: RawInputFlags): InputFlags {
  return { ...clusterFlags(raw), files: raw.filename, policy: raw.policy };
}

interface RawPlanFlags extends RawInputFlags {
  readonly namespace?: string;
  readonly selector?: string;
  readonly output: string;
  readonly exitCode?: boolean;
  readonly failOn: readonly string[];
}

function addPlan(program: Command, signal: AbortSignal, print: Print): void {
  withInputFlags(program.command('plan'))
    .description('compute a plan from a live cluster or from files; changes nothing')
    .option('-n, --namespace <name>', 'move only pods of this namespace')
    .option('-A, --all-namespaces', 'move pods of all namespaces that the policy selects (the default)')
    .option('-l, --selector <selector>', 'move only pods with these labels, such as app=web,tier!=db')
    .addOption(outputOption('table'))
    .option('--exit-code', 'exit with 2 when moves are needed, 4 when the input is stale or incomplete')
    .option('--fail-on <expression>', "exit with 3 when it holds, such as 'imbalance>0.2'; repeatable", collect, [])
    .addHelpText(
      'after',
      '\nExamples:\n  evenkeel plan -p policy.yaml\n  kubectl get nodes,pods,pdb -A -o yaml | evenkeel plan -f - -p policy.yaml\n' +
        "  evenkeel plan -f snapshot.yaml -p policy.yaml --exit-code --fail-on 'imbalance>0.2'",
    )
    .action(async (raw: RawPlanFlags) => {
      const flags = {
        ...inputFlags(raw),
        namespace: raw.namespace,
        selector: raw.selector,
        output: parseOutput(raw.output),
        exitCode: raw.exitCode === true,
        failOn: raw.failOn,
      };
      print(await planCommand(flags, signal));
    });
}

interface RawExplainFlags extends RawInputFlags {
  readonly namespace?: string;
  readonly output: string;
}

function addExplain(program: Command, signal: AbortSignal, print: Print): void {
  withInputFlags(program.command('explain'))
    .description('say what every filter, score and budget makes of a pod or a node; changes nothing')
    .argument('<target...>', 'pod/NAME, pod/NAMESPACE/NAME or node/NAME')
    .option('-n, --namespace <name>', 'namespace of the pod')
    .addOption(outputOption('table'))
    .addHelpText(
      'after',
      '\nExamples:\n  evenkeel explain pod/web-7d9c-x2x4b -n shop\n  evenkeel explain node/node-3 -o wide\n' +
        '  kubectl get nodes,pods,pdb -A -o yaml | evenkeel explain pod/shop/web-1 -f - -p policy.yaml -o json',
    )
    .action(async (words: readonly string[], raw: RawExplainFlags) => {
      const flags = { ...inputFlags(raw), namespace: raw.namespace, output: parseOutput(raw.output) };
      print(await explainCommand(words, flags, signal));
    });
}

function addSnapshot(program: Command, signal: AbortSignal, print: Print): void {
  withClusterFlags(program.command('snapshot'))
    .description('write what plan needs as ordinary Kubernetes objects, to standard output')
    .addHelpText('after', '\nExample:\n  evenkeel snapshot > snapshot.yaml')
    .action(async (raw: RawClusterFlags) => print(await snapshotCommand(clusterFlags(raw), signal)));
}

function addDriving(program: Command, signal: AbortSignal, print: Print): void {
  withClusterFlags(program.command('apply'))
    .description('validate resources of ours and apply them to the cluster')
    .requiredOption('-f, --filename <file>', 'file, or - for standard input; repeatable', collect, [])
    .action(async (raw: RawClusterFlags & { filename: readonly string[] }) =>
      print(await applyCommand(raw.filename, clusterFlags(raw), signal)),
    );
  withClusterFlags(program.command('approve'))
    .description('let the operator carry out a plan that waits for approval')
    .argument('<plan>', 'name of a RebalancePlan')
    .action(async (name: string, raw: RawClusterFlags) => print(await approveCommand(name, clusterFlags(raw), signal)));
  withClusterFlags(program.command('stop'))
    .description('suspend a policy: no new evictions; moves in flight are verified to their end')
    .argument('<policy>', 'name of a RebalancePolicy')
    .action(async (name: string, raw: RawClusterFlags) => print(await stopCommand(name, clusterFlags(raw), signal)));
  withClusterFlags(program.command('history'))
    .description('list plans with what they predicted and what was measured')
    .argument('[policy]', 'name of a RebalancePolicy; default all')
    .addOption(outputOption('table'))
    .action(async (policy: string | undefined, raw: RawClusterFlags & { output: string }) =>
      print(await historyCommand(policy, parseOutput(raw.output), clusterFlags(raw), signal)),
    );
}

interface RawSimulateFlags {
  readonly filename: string;
  readonly policy: readonly string[];
  readonly output: SimulateFlags['output'];
  readonly seed?: string;
}

function addSimulate(program: Command, print: Print): void {
  program
    .command('simulate')
    .description('play a scenario in virtual time, with and without policies, and compare; needs no cluster')
    .requiredOption(
      '-f, --filename <file>',
      'file of a Scenario, with the RebalancePolicies and ServiceClasses that it names',
    )
    .option('-p, --policy <file>', 'file of a further RebalancePolicy; repeatable', collect, [])
    .option('--seed <number>', 'seed of all that is random; default that of the scenario')
    .addOption(
      new Option('-o, --output <format>', 'how the report is written').choices(SIMULATION_OUTPUTS).default('table'),
    )
    .addHelpText(
      'after',
      '\nExamples:\n  evenkeel simulate -f scenario.yaml\n  evenkeel simulate -f scenario.yaml -p policy.yaml -o html > report.html',
    )
    .action(async (raw: RawSimulateFlags) => {
      const flags = { file: raw.filename, policies: raw.policy, output: raw.output, seed: parseSeed(raw.seed) };
      const console = {
        isTerminal: process.stderr.isTTY === true,
        now: () => performance.now(),
        write: (text: string) => void process.stderr.write(text),
      };
      print(await simulateCommand(flags, console));
    });
}

function parseSeed(text: string | undefined): number | undefined {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) {
    throw new Failure(`--seed ${text} is not a seed: write a whole number with at most nine digits`);
  }
  return text === undefined ? undefined : Number(text);
}

function addLint(program: Command, print: Print): void {
  program
    .command('lint')
    .description('validate resources of ours offline')
    .argument('<files...>', 'files, - for standard input')
    .action(async (files: readonly string[]) => print(await lintCommand(files)));
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

function addOperator(program: Command, signal: AbortSignal): void {
  const namespace = process.env['POD_NAMESPACE'] ?? 'evenkeel-system';
  withClusterFlags(program.command('operator'))
    .description('run the controller')
    .option('--health-address <host:port>', 'where /healthz and /readyz are served, by HTTP', '127.0.0.1:8080')
    .option(
      '--metrics-address <host:port>',
      'where /metrics is served, by HTTPS, to users who may get it by RBAC',
      '127.0.0.1:8443',
    )
    .option('--tls-cert-file <file>', 'certificate of /metrics in PEM, read anew when it changes; default self-signed')
    .option('--tls-private-key-file <file>', 'its private key')
    .addOption(
      new Option('--metrics-insecure [where]', 'serve /metrics by HTTP to everybody who reaches it')
        .choices(['loopback', 'anywhere'])
        .preset('loopback'),
    )
    .option(
      '--own-namespace <name>',
      'namespace of the operator and its lease, which is never rebalanced; default POD_NAMESPACE',
      namespace,
    )
    .option('--leader-elect', 'act only while holding the lease, so that several replicas may run', true)
    .option('--no-leader-elect', 'act at once: nothing else keeps a second operator from doing the same')
    .option('--lease-duration <duration>', 'how long the others wait after the leader was last heard of', '15s')
    .option('--lease-name <name>', 'Lease in the own namespace that replicas compete for', 'evenkeel')
    .addOption(new Option('--log-level <level>', 'least level that is logged').choices(LOG_LEVELS).default('info'))
    .action(async (raw: RawClusterFlags & Omit<OperatorFlags, keyof ClusterFlags>) => {
      await runOperator({ ...clusterFlags(raw), ...raw, kubeconfig: raw.kubeconfig, context: raw.context }, signal);
    });
}
