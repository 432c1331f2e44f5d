import { type Cluster, type ClusterFlags, connect } from '../app/cluster.ts';
import { escapeText } from '../model/escape.ts';
import type { CommandResult } from './command.ts';

/** Does `work` with a connection to the cluster that the flags name, and closes it. */
export async function withCluster(
  flags: ClusterFlags,
  work: (cluster: Cluster) => Promise<CommandResult>,
): Promise<CommandResult> {
  const cluster = await connect(flags);
  try {
    return await work(cluster);
  } finally {
    await cluster.close();
  }
}

/** What a command that did something prints: a line for each thing. */
export function done(lines: readonly string[]): CommandResult {
  return { stdout: lines.map((line) => `${escapeText(line)}\n`).join(''), exitCode: 0 };
}
