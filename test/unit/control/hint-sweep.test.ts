import { describe, expect, it } from 'vitest';
import type { PlacementHint } from '../../../src/api/v1alpha1/placement-hint.ts';
import type { RebalancePlan } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { sweepHints } from '../../../src/control/hint-sweep.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aPod } from '../../support/builders.ts';

const NEVER = new AbortController().signal;
const POD = aPod('web-1', { nodeName: 'a' });

function aHint(plan: string, podUID = POD.uid): PlacementHint {
  const spec = { ownerUID: 'uid-web', nodeName: 'b', plan, podUID };
  return {
    apiVersion: 'evenkeel.dev/v1alpha1',
    kind: 'PlacementHint',
    metadata: { name: `hint-${plan}`, namespace: 'shop' },
    spec,
  };
}

/** A plan of the policy of this uid, with the pod in flight or not. */
function planOf(uid: string, isInFlight = false): RebalancePlan {
  const policy = { ...aPolicy('even'), metadata: { name: `policy-${uid}`, uid } };
  const moves = isInFlight ? [{ podUID: POD.uid, phase: 'Intent' as const, attempt: 0 }] : [];
  const plan = aPlan(policy, [aMove(POD, 'b')], { phase: 'Executing', moves });
  return { ...plan, metadata: { name: `plan-${uid}` } };
}

/** Sweeps hints; `seen` are the plans that this replica has seen, `live` those that there are. Resolves to what was removed and asked. */
async function swept(
  hints: readonly PlacementHint[],
  led: readonly (string | undefined)[],
  seen: readonly RebalancePlan[],
  live = seen,
): Promise<{ readonly removed: readonly string[]; readonly asked: readonly string[] }> {
  const removed: string[] = [];
  const asked: string[] = [];
  const ports = {
    steering: {
      list: async () => hints,
      discard: async ({ spec }: PlacementHint) => void removed.push(spec.plan),
    },
    plans: {
      list: async () => seen,
      get: async (name: string) => {
        asked.push(name);
        return live.find(({ metadata }) => metadata.name === name);
      },
    },
    log: () => undefined,
    runFailed: () => undefined,
  };
  await sweepHints(ports, (policy) => led.includes(policy), NEVER);
  return { removed, asked };
}

describe('hints that no move in flight has', () => {
  it('are removed by whoever leads the policy of their plan, without asking for it', async () => {
    expect(await swept([aHint('plan-1')], ['1'], [planOf('1')])).toEqual({ removed: ['plan-1'], asked: [] });
  });

  it('are left to the replica that leads the policy: it may have recorded an intent that is not seen here yet', async () => {
    expect(await swept([aHint('plan-1')], ['2', undefined], [planOf('1')])).toEqual({ removed: [], asked: [] });
  });

  it('whose plan is unknown are removed by whoever leads the rest, when it is not there', async () => {
    expect(await swept([aHint('gone')], [undefined], [planOf('1')])).toEqual({ removed: ['gone'], asked: ['gone'] });
  });

  it('whose plan is unknown stay when it is there: another replica has made it a moment ago', async () => {
    const live = [planOf('1', true)];
    expect(await swept([aHint('plan-1')], [undefined], [], live)).toEqual({ removed: [], asked: ['plan-1'] });
  });

  it('whose plan is unknown are left to whoever leads the rest', async () => {
    expect(await swept([aHint('gone')], ['1'], [planOf('1')])).toEqual({ removed: [], asked: [] });
  });

  it('of a plan of a policy from a file, which has no uid, belong to the rest', async () => {
    const plan = planOf('');
    expect((await swept([aHint('plan-')], [undefined], [plan])).removed).toEqual(['plan-']);
    expect((await swept([aHint('plan-')], ['1'], [plan])).removed).toEqual([]);
  });
});

describe('hints of moves in flight', () => {
  it.each([[['1']], [['1', undefined]], [[undefined]]])('stay whoever leads what (%j)', async (led) => {
    expect((await swept([aHint('plan-1')], led, [planOf('1', true)])).removed).toEqual([]);
  });

  it('stay while others of their policy go', async () => {
    const hints = [
      aHint('plan-1'),
      { ...aHint('plan-1', 'uid-other'), metadata: { name: 'other', namespace: 'shop' } },
    ];
    expect((await swept(hints, ['1'], [planOf('1', true)])).removed).toEqual(['plan-1']);
  });
});
