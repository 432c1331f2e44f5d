import type { Cluster } from '../app/cluster.ts';
import { Failure } from '../app/failure.ts';
import type { StoredPolicy } from '../ports.ts';
import { suggestion } from './suggestion.ts';

/** The policy of this name on the cluster. Throws a Failure that lists them when there is none, and ApiError. */
export async function storedPolicy(
  name: string,
  { policies }: Pick<Cluster, 'policies'>,
  signal: AbortSignal,
): Promise<StoredPolicy> {
  const all = await policies.list(signal);
  const found = all.find(({ policy }) => policy.metadata.name === name);
  if (found === undefined) {
    const names = all.map(({ policy }) => policy.metadata.name);
    throw new Failure(`there is no RebalancePolicy ${name}${suggestion(name, names)}`);
  }
  return found;
}

/** The command that ends the suspension of a policy. */
export function resumeCommand(policy: string): string {
  return `kubectl patch rbp ${policy} --type=merge -p '{"spec":{"suspend":false}}'`;
}
