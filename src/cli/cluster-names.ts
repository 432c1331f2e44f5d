import type { Cluster } from '../app/cluster.ts';

/** Looks names up on the cluster that the words before name; the words are those of the command. */
export type NameLookup = (names: Names, words: readonly string[]) => Promise<readonly string[]>;
/** Names that a cluster knows. Those in namespaces are NAMESPACE/NAME, or NAME where the words before name the namespace. */
export type Names = 'policies' | 'waiting plans' | 'nodes' | 'namespaces' | NamespacedNames;
type NamespacedNames = 'pods' | 'appgraphs' | 'deployments' | 'statefulsets' | 'daemonsets';

/** Milliseconds after which somebody who has pressed Tab waits no longer. */
const PATIENCE = 2000;

/**
 * Names on the cluster that --kubeconfig and --context among the words name. None when they name files to read instead, or
 * when the cluster cannot be asked within two seconds: a completion has no place for a message.
 */
export async function namesOnCluster(names: Names, words: readonly string[]): Promise<readonly string[]> {
  if (flagValue(words, '--filename', '-f') !== undefined) {
    return [];
  }
  try {
    const { connect } = await import('../app/cluster.ts');
    const cluster = await connect({
      kubeconfig: flagValue(words, '--kubeconfig'),
      context: flagValue(words, '--context'),
    });
    try {
      return await listed(names, cluster, flagValue(words, '--namespace', '-n'), AbortSignal.timeout(PATIENCE));
    } finally {
      await cluster.close();
    }
  } catch {
    return [];
  }
}

function flagValue(words: readonly string[], ...flags: readonly string[]): string | undefined {
  const joined = words.find((word) => flags.some((flag) => word.startsWith(`${flag}=`)));
  const place = words.findIndex((word) => flags.includes(word));
  return joined?.slice(joined.indexOf('=') + 1) ?? (place < 0 ? undefined : words[place + 1]);
}

async function listed(
  names: Names,
  cluster: Cluster,
  namespace: string | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  switch (names) {
    case 'policies':
      return (await cluster.policies.list(signal)).map(({ policy }) => policy.metadata.name);
    case 'waiting plans': {
      const waiting = (await cluster.plans.list(signal)).filter(({ status }) => status?.phase === 'AwaitingApproval');
      return waiting.map(({ metadata }) => metadata.name);
    }
    case 'nodes':
    case 'namespaces':
      return (await cluster.names(names, undefined, signal)).map(({ name }) => name);
    default: {
      const found = await cluster.names(names, namespace, signal);
      return found.map((each) => (namespace === undefined ? `${each.namespace}/${each.name}` : each.name));
    }
  }
}
