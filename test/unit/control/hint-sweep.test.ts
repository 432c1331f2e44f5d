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

describe('hints that cannot be removed', () => {
  /** Sweeps as the leader of all; `failing` says what becomes of a removal. */
  async function sweep(
    list: () => Promise<readonly PlacementHint[]>,
    failing: (hint: PlacementHint) => Promise<void>,
    signal = NEVER,
  ) {
    const lines: (readonly [line: string, fields: object])[] = [];
    let failures = 0;
    let lists = 0;
    const ports = {
      steering: { list, discard: failing },
      plans: {
        list: async () => {
          lists += 1;
          return [planOf('1'), planOf('2')];
        },
        get: async () => undefined,
      },
      log: (line: string, fields: object) => void lines.push([line, fields]),
      runFailed: () => {
        failures += 1;
      },
    };
    const problems = await sweepHints(ports, () => true, signal);
    return { problems: [...problems], lines, failures, lists };
  }

  it('are told of by their plan, each counts as a failure, and the others go', async () => {
    const removed: string[] = [];
    const { problems, lines, failures } = await sweep(
      async () => [aHint('plan-1'), aHint('plan-2')],
      async ({ spec }) => {
        if (spec.plan === 'plan-1') {
          throw new Error('forbidden');
        }
        removed.push(spec.plan);
      },
    );
    expect(removed).toEqual(['plan-2']);
    expect(problems).toEqual([
      ['plan-1', 'PlacementHint shop/hint-plan-1 remains and goes on steering pods: forbidden'],
    ]);
    expect(lines).toEqual([['hint remains', { hint: 'shop/hint-plan-1', problem: 'forbidden' }]]);
    expect(failures).toBe(1);
  });

  it('are not deleted again where their deletion waits for somebody', async () => {
    const leaving = (finalizers?: string[]): PlacementHint => {
      const hint = aHint('plan-1');
      const begun = { deletionTimestamp: '2026-01-01T12:00:00Z', ...(finalizers === undefined ? {} : { finalizers }) };
      return { ...hint, metadata: { ...hint.metadata, ...begun } };
    };
    const removal = async () => expect.fail('it is deleted again');
    const { problems, failures } = await sweep(async () => [leaving(['a/b', 'c/d'])], removal);
    expect(problems).toEqual([
      [
        'plan-1',
        'PlacementHint shop/hint-plan-1 remains and goes on steering pods: its deletion began at 2026-01-01T12:00:00Z and waits for a/b, c/d',
      ],
    ]);
    expect(failures).toBe(1);
  });

  it('are none that cannot be listed: that is told, and counts as one failure', async () => {
    const cause = new Error('503');
    const result = await sweep(
      async () => Promise.reject(cause),
      async () => undefined,
    );
    expect(result).toEqual({ problems: [], lines: [['hints not listed', { err: cause }]], failures: 1, lists: 0 });
  });

  it('are not told of after the end', async () => {
    const stop = new AbortController();
    const cut = async () => {
      stop.abort(new Error('the end'));
      throw new Error('cut off');
    };
    await expect(sweep(cut, async () => undefined, stop.signal)).rejects.toThrow('the end');
  });

  it('are looked for without asking for plans where there are none', async () => {
    const none = await sweep(
      async () => [],
      async () => undefined,
    );
    expect(none).toEqual({ problems: [], lines: [], failures: 0, lists: 0 });
  });
});
