import type { PodInfo } from '../model/pod.ts';
import { resolveOptions } from '../plan/options.ts';
import { scopeTest } from '../plan/scope.ts';
import type { ClusterReader, PolicyStore, StoredPolicy } from '../ports.ts';
import { classOf } from '../qos/class-of.ts';
import { scheduleProblems } from './schedule.ts';

/** What tells governed pods from others. */
export interface GovernancePorts {
  readonly policies: Pick<PolicyStore, 'list'>;
  readonly reader: Pick<ClusterReader, 'promises'>;
}

/**
 * A test for the pods at the gate that are left there for QoSDriven: they have a ServiceClass, and a policy of that strategy
 * acts on its own (Automatic, valid, not suspended) on their namespace and labels. `excludedNamespaces` are kube-system and the
 * operator's own. Rejects with ApiError.
 */
export async function governed(
  { policies, reader }: GovernancePorts,
  excludedNamespaces: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<(pod: PodInfo) => boolean> {
  const acting = (await policies.list(signal)).filter(isActing);
  if (acting.length === 0) {
    return () => false;
  }
  const { namespaces, serviceLevels } = await reader.promises(signal);
  const scopes = acting.map(({ policy: { spec } }) =>
    scopeTest(resolveOptions(spec, excludedNamespaces).scope, { nodes: [], namespaces }),
  );
  return (pod) => classOf(pod, serviceLevels, namespaces) !== undefined && scopes.some((isIn) => isIn(pod));
}

function isActing({ policy: { spec }, invalid }: StoredPolicy): boolean {
  return (
    spec.strategy.type === 'QoSDriven' &&
    spec.mode === 'Automatic' &&
    !spec.suspend &&
    invalid.length === 0 &&
    scheduleProblems(spec).length === 0
  );
}
