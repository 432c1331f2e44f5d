import type { RebalancePlan } from '../../api/v1alpha1/rebalance-plan.ts';

/**
 * The plan as it is kept in memory: hundreds of plans with a thousand moves each stay for their history. One that has ended is
 * kept without its rejections and the words of its moves, which nobody decides by, and with equal texts once. Its status is
 * complete, so that it can be written.
 */
export function compactPlan(plan: RebalancePlan): RebalancePlan {
  const { spec, status } = plan;
  if (status?.finishedAt === undefined) {
    return plan;
  }
  const texts = new Map<string, string>();
  const once = (text: string): string => {
    const known = texts.get(text) ?? text;
    texts.set(text, known);
    return known;
  };
  const owners = new Map<string, RebalancePlan['spec']['moves'][number]['owner']>();
  const ownerOnce = (owner: RebalancePlan['spec']['moves'][number]['owner']) => {
    const known = owners.get(owner.uid) ?? owner;
    owners.set(owner.uid, known);
    return known;
  };
  const { managedFields: _, ...metadata } = plan.metadata;
  return {
    ...plan,
    metadata,
    spec: {
      ...spec,
      rejections: [],
      moves: spec.moves.map(({ pod, owner, from, to, failover, removal, load, gain, cost }) => ({
        pod: { namespace: once(pod.namespace), name: pod.name, uid: once(pod.uid) },
        owner: ownerOnce(owner),
        ...(from === undefined ? {} : { from: once(from) }),
        ...(to === undefined ? {} : { to: once(to) }),
        ...(failover === undefined ? {} : { failover }),
        ...(removal === undefined ? {} : { removal }),
        load: once(load),
        gain: once(gain),
        ...(cost === undefined ? {} : { cost: once(cost) }),
        reason: '',
      })),
    },
    status: {
      ...status,
      ...(status.moves === undefined ? {} : { moves: status.moves.map((run) => withTexts(run, once)) }),
    },
  };
}

/** The value with every text in it taken from `once`. */
function withTexts<Value>(value: Value, once: (text: string) => string): Value {
  if (typeof value === 'string') {
    return once(value) as Value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => withTexts(item, once)) as Value;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withTexts(item, once)])) as Value;
  }
  return value;
}
