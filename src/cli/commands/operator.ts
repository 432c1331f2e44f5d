import { Option } from 'commander';
import type { ClusterFlags } from '../../app/cluster.ts';
import { Failure } from '../../app/failure.ts';
import type { OperatorFlags } from '../../app/operator.ts';
import type { AddCommand } from '../command.ts';
import { examples, type RawClusterFlags, withClusterFlags, withPrometheusFlags } from '../flags.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];

/** `evenkeel operator` */
export const addOperator: AddCommand = (program, { signal }) => {
  const namespace = process.env['POD_NAMESPACE'] ?? 'evenkeel-system';
  withPrometheusFlags(withClusterFlags(program.command('operator')))
    .description('run the controller')
    .option('--health-address <host:port>', 'where /healthz and /readyz are served, by HTTP', '127.0.0.1:8080')
    .option(
      '--metrics-address <host:port>',
      'where /metrics and the page are served, by HTTPS, to users who may get them by RBAC',
      '127.0.0.1:8443',
    )
    .option('--tls-cert-file <file>', 'certificate of /metrics in PEM, read anew when it changes; default self-signed')
    .option('--tls-private-key-file <file>', 'its private key')
    .addOption(
      new Option('--metrics-insecure [where]', 'serve /metrics by HTTP to everybody who reaches it, and not the page')
        .choices(['loopback', 'anywhere'])
        .preset('loopback'),
    )
    .option('--webhook-address <host:port>', 'where the admission webhook is served, by HTTPS; default nowhere')
    .option(
      '--webhook-tls-cert-file <file>',
      'its certificate in PEM, read again when it changes; default made and rotated',
    )
    .option('--webhook-tls-private-key-file <file>', 'its private key')
    .addOption(
      new Option(
        '--webhook-certificate-lifetime <duration>',
        'how long a certificate that the operator makes is valid',
      ).hideHelp(),
    )
    .option(
      '--own-namespace <name>',
      'namespace of the operator and its lease, which is never rebalanced; default POD_NAMESPACE',
      namespace,
    )
    .addOption(
      new Option(
        '--max-concurrent <count>',
        'moves in flight at a time over all policies, beside the maxConcurrent of each',
      )
        .argParser(parseCount)
        .default(100),
    )
    .option('--leader-elect', 'act only while holding the lease, so that several replicas may run', true)
    .option('--no-leader-elect', 'act at once: nothing else keeps a second operator from doing the same')
    .option('--lease-duration <duration>', 'how long the others wait after the leader was last heard of', '15s')
    .option('--lease-name <name>', 'Lease in the own namespace that replicas compete for', 'evenkeel')
    .option(
      '--shard-policies',
      'let all replicas lead policies, each its share, and not one of them everything; needs --leader-elect',
      false,
    )
    .addOption(new Option('--log-level <level>', 'minimum log level').choices(LOG_LEVELS).default('info'))
    .addHelpText('after', examples('evenkeel operator --context staging --log-level debug'))
    .action(async (raw: RawClusterFlags & Omit<OperatorFlags, keyof ClusterFlags>) => {
      const { runOperator } = await import('../../app/operator.ts');
      await runOperator({ ...raw, kubeconfig: raw.kubeconfig, context: raw.context }, signal);
    });
};

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,3}$/.test(text)) {
    throw new Failure(`--max-concurrent ${text} is not a count: write a whole number from 1 to 9999, such as 20`);
  }
  return Number(text);
}
