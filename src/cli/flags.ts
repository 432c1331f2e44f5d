import { type Command, Option } from 'commander';
import type { ClusterFlags } from './cluster.ts';
import type { InputFlags } from './input.ts';
import { parseOutput } from './output-formats.ts';

/** --kubeconfig and --context as commander parses them. */
export interface RawClusterFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Those, --filename and --policy as commander parses them. */
export interface RawInputFlags extends RawClusterFlags {
  readonly filename: readonly string[];
  readonly policy?: string;
}

/** The command with --kubeconfig and --context. */
export function withClusterFlags(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig file; default KUBECONFIG, ~/.kube/config, or the pod that it runs in')
    .option('--context <name>', 'context of the kubeconfig; default its current one');
}

/** The command with -f and the cluster flags: where a snapshot comes from. */
export function withSnapshotFlags(command: Command): Command {
  return withClusterFlags(command).option(
    '-f, --filename <file>',
    'snapshot file of ordinary Kubernetes objects, - for standard input; repeatable',
    collect,
    [],
  );
}

/** The command with -f, -p and the cluster flags: what a plan is made from. */
export function withInputFlags(command: Command): Command {
  return withSnapshotFlags(command).option(
    '-p, --policy <policy>',
    'file of a RebalancePolicy, or the name of one on the cluster or in the snapshot',
  );
}

/** The command with flags that name Prometheus servers, for policies with `load.source: Prometheus`. */
export function withPrometheusFlags(command: Command): Command {
  return command
    .option(
      '--prometheus <name=url>',
      'Prometheus server that policies may name as load.prometheus.server; repeatable',
      collect,
      [],
    )
    .option('--prometheus-token-file <name=file>', 'file of the bearer token for that server', collect, [])
    .option('--prometheus-ca-file <name=file>', 'file of the certificates that it is trusted by', collect, []);
}

/** Which cluster the flags name. */
export function clusterFlags({ kubeconfig, context }: RawClusterFlags): ClusterFlags {
  return { kubeconfig, context };
}

/** What the flags name as input. */
export function inputFlags(raw: RawInputFlags): InputFlags {
  return { ...clusterFlags(raw), files: raw.filename, policy: raw.policy };
}

/** Parser of a flag that may be repeated. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}

/** -o with these formats, of which the first is the default. */
export function outputOption<Format extends string>(formats: readonly [Format, ...Format[]]): Option {
  return new Option('-o, --output <format>', 'how it is written')
    .choices(formats)
    .argParser((text) => parseOutput(text, formats))
    .default(formats[0]);
}

/** Help text after that of the flags: one example a line, as it is typed. */
export function examples(...lines: readonly string[]): string {
  return `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
