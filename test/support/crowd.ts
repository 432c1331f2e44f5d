import type { PodInfo } from '../../src/model/pod.ts';
import type { ServiceClass, ServiceLedger } from '../../src/model/service-level.ts';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { epochSeconds } from '../../src/model/units.ts';
import { CLASS_LABEL } from '../../src/qos/class-of.ts';
import { aLedger, aServiceClass, serviceLevels } from './builders/service-levels.ts';
import { atGate, NOW } from './builders.ts';
import { type GenerateOptions, generateSnapshot } from './generate.ts';
import { createRandom } from './random.ts';

/** What a full cluster looks like. */
export interface CrowdOptions extends GenerateOptions {
  /** Pods at the gate, on average; of deployments that the cluster has. */
  readonly waiting: number;
}

/** The classes of the published evaluation, by importance. */
export const PUBLISHED_CLASSES: readonly ServiceClass[] = [
  ['prod', 1],
  ['batch', 0.9],
  ['free', 0.5],
].map(([name, slo], place) =>
  aServiceClass({
    name: String(name),
    slo: Number(slo),
    importance: place + 1,
    safetyMargin: 30,
    expectedStartup: 2.37,
  }),
);

/**
 * A generated cluster without a free pod slot on any node, with a class for every namespace, a ledger for every deployment,
 * and pods that wait at the gate. Availabilities are spread around the SLOs.
 */
export function crowdedSnapshot(options: CrowdOptions): ClusterSnapshot {
  const snapshot = generateSnapshot(options);
  const random = createRandom(options.seed);
  const classOf = (namespace: string): ServiceClass | undefined =>
    PUBLISHED_CLASSES[[...namespace].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % PUBLISHED_CLASSES.length];
  const byOwner = Map.groupBy(
    snapshot.pods.filter(({ owner }) => owner?.kind === 'ReplicaSet'),
    ({ owner }) => owner?.uid ?? '',
  );
  const step = Math.max(1, Math.floor(byOwner.size / options.waiting));
  const guests: PodInfo[] = [];
  const ledgers: ServiceLedger[] = [];
  for (const [place, [uid, members]] of [...byOwner].entries()) {
    const [first] = members;
    const promised = classOf(first?.namespace ?? '');
    if (first?.owner === undefined || promised === undefined) {
      continue;
    }
    const waits = place % step === 0 && guests.length < options.waiting ? Math.ceil(options.waiting / byOwner.size) : 0;
    guests.push(...Array.from({ length: waits }, (_, number) => waitingLike(first, `waits-${number}`)));
    ledgers.push(ledgerOf(first, uid, promised, members.length, waits, random.next()));
  }
  const taken = Map.groupBy(snapshot.pods, ({ nodeName }) => nodeName ?? '');
  return {
    ...snapshot,
    nodes: snapshot.nodes.map((node) => ({
      ...node,
      allocatable: { ...node.allocatable, pods: taken.get(node.name)?.length ?? 0 },
    })),
    pods: [...snapshot.pods, ...guests],
    namespaces: new Map(
      [...snapshot.namespaces].map(([name, labels]) => [
        name,
        new Map([...labels, [CLASS_LABEL, classOf(name)?.name ?? '']]),
      ]),
    ),
    serviceLevels: serviceLevels(PUBLISHED_CLASSES, ledgers),
  };
}

function waitingLike(pod: PodInfo, suffix: string): PodInfo {
  return { ...atGate(pod), name: `${pod.name}-${suffix}`, uid: `${pod.uid}-${suffix}` };
}

/** An hour of service in which the deployment got its SLO, give or take a tenth. */
function ledgerOf(
  { namespace, owner }: PodInfo,
  uid: string,
  { name: className, slo }: ServiceClass,
  running: number,
  waiting: number,
  chance: number,
): ServiceLedger {
  const total = 3600 * (running + waiting);
  const useful = total * Math.min(1, Math.max(0, slo + (chance - 0.5) / 5));
  return aLedger({
    namespace,
    owner: owner ?? { kind: 'ReplicaSet', name: uid, uid },
    className,
    admittedAt: epochSeconds(NOW - 3600),
    times: { useful, pending: total - useful },
    running,
    waiting,
  });
}
