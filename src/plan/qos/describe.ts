import type { OwnerRef } from '../../model/pod.ts';
import { podKey } from '../../model/pod.ts';
import { seconds } from '../../model/units.ts';
import type { Cluster } from '../cluster.ts';
import { count, trimmed } from '../format.ts';
import { itemAt, type NodeIndex, type PodIndex } from '../indices.ts';
import { share, toFraction } from '../load.ts';
import { ownerOf } from '../owners.ts';
import type { Move } from '../plan.ts';
import { span } from './explain.ts';
import type { AdmissionStep, PreemptionPassStep, PreemptionStep } from './preemption-pass.ts';
import type { TransferStep } from './transfers.ts';

/** What happens to one pod. */
export type Step = PreemptionPassStep | TransferStep;

/** The steps for people and other programs, with names instead of places of pods and nodes. */
export function describeSteps(cluster: Cluster, steps: readonly Step[]): readonly Move[] {
  return steps.map((step) => {
    switch (step.kind) {
      case 'Preemption':
        return describePreemption(cluster, step);
      case 'Admission':
        return describeAdmission(cluster, step);
      case 'Transfer':
        return describeTransfer(cluster, step);
      default:
        return step satisfies never;
    }
  });
}

function describePreemption(cluster: Cluster, { pod, node, standing, beneficiary }: PreemptionStep): Move {
  const whom = podKey(itemAt(cluster.pods, beneficiary.pod));
  const need = beneficiary.standing === undefined ? '' : `, which can wait ${span(beneficiary.standing)}`;
  return {
    ...common(cluster, pod, node),
    from: nameOf(cluster, node),
    to: undefined,
    cost: standing.alpha,
    reason: `makes room for ${whom}${need}; itself can wait ${span(standing)} (class ${standing.serviceClass.name})`,
    after: [],
  };
}

function describeAdmission(cluster: Cluster, { pod, node, standing, needs, score }: AdmissionStep): Move {
  const urgency = standing === undefined ? '' : `can wait ${span(standing)}; `;
  const how =
    needs.length === 0 ? `room, allocation score ${trimmed(score)}` : `room after ${count(needs.length, 'preemption')}`;
  const to = nameOf(cluster, node);
  return {
    ...common(cluster, pod, node),
    from: undefined,
    to,
    cost: seconds(0),
    reason: `${urgency}${to} has ${how}`,
    after: needs,
  };
}

function describeTransfer(cluster: Cluster, step: TransferStep): Move {
  const { pod, before, after, limit, standing, ready, needs } = step;
  const [from, to] = [nameOf(cluster, step.from), nameOf(cluster, step.to)];
  const state = `${ready ? 'is Ready' : 'is not Ready'} and can wait ${span(standing)} (class ${standing.serviceClass.name})`;
  const source = `${from} is overloaded: ${share(before.from)} -> ${share(after.from)}, its limit is ${share(limit)}`;
  const room = needs.length === 0 ? '' : `, after ${count(needs.length, 'move')}`;
  return {
    ...common(cluster, pod, step.from),
    from,
    to,
    load: toFraction(step.load),
    gain: toFraction(Math.max(before.from, before.to) - Math.max(after.from, after.to)),
    cost: standing.alpha,
    reason: `${state}; ${source}; ${to} ${share(before.to)} -> ${share(after.to)}, allocation score ${trimmed(step.score)}${room}`,
    after: needs,
  };
}

function common(
  cluster: Cluster,
  pod: PodIndex,
  node: NodeIndex,
): Pick<Move, 'pod' | 'owner' | 'load' | 'gain' | 'fallbacks' | 'partner'> {
  const { namespace, name, uid } = itemAt(cluster.pods, pod);
  const owner: OwnerRef | undefined = ownerOf(cluster.owners, pod)?.ref;
  if (owner === undefined) {
    throw new RangeError(`pod ${pod} has no controller`);
  }
  return {
    pod: { namespace, name, uid },
    owner: { kind: owner.kind, name: owner.name, uid: owner.uid },
    load: toFraction(cluster.load.ofPod(pod, node, 0)),
    gain: 0,
    fallbacks: [],
    partner: undefined,
  };
}

function nameOf({ nodes }: Cluster, node: NodeIndex): string {
  return itemAt(nodes, node).name;
}
