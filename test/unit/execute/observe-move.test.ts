import { describe, expect, it } from 'vitest';
import type { MoveStatus } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { observeMove } from '../../../src/execute/observe-move.ts';
import { recordSiblings } from '../../../src/execute/siblings.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aPodOf } from '../../support/builders.ts';
import { aWorld, forever, WEB_1, WEB_2, web } from '../../support/execution.ts';
import { NOON } from '../../support/test-clock.ts';

/** A pod that the controller of web has made so many seconds past noon. */
function made(name: string, second: number, fields: Partial<PodInfo> = {}): PodInfo {
  return { ...aPodOf(web, name, 'b'), uid: `uid-new-${name}`, createdAt: epochSeconds(NOON + second), ...fields };
}

/** What is seen of the move of web-1, which is gone, beside web-2 and these pods. */
async function seenBeside(
  pods: readonly PodInfo[],
  claimed: readonly string[] = [],
  changes: Partial<MoveStatus> = {},
) {
  const w = aWorld([WEB_2, ...pods]);
  const run = {
    podUID: WEB_1.uid,
    phase: 'AwaitingReplacement',
    attempt: 0,
    siblings: recordSiblings([WEB_1, WEB_2]),
    ...changes,
  } as const;
  const entry = { index: 0, move: aMove(WEB_1, 'b'), run };
  return await observeMove(entry, new Set(claimed), false, w.ports.reader, forever);
}

describe('the replacement of a pod', () => {
  const nameOf = async (...args: Parameters<typeof seenBeside>) => (await seenBeside(...args)).replacement?.name;

  it('is the oldest that came since, and of equally old ones the first by name', async () => {
    expect(await nameOf([made('web-8', 5), made('web-9', 4)])).toBe('web-9');
    expect(await nameOf([made('web-9', 4), made('web-8', 4)])).toBe('web-8');
  });

  it('is before all the one of the same name', async () => {
    expect(await nameOf([made('web-0', 1), made('web-1', 9)])).toBe('web-1');
  });

  it('is none that another move claims, that is going, or that its kubelet refused', async () => {
    const [first, second] = [made('web-8', 4), made('web-9', 5)];
    expect(await nameOf([first, second], [first.uid])).toBe('web-9');
    expect(await nameOf([{ ...first, terminating: true }, second])).toBe('web-9');
    expect(await nameOf([{ ...first, phase: 'Failed', ready: false }, second])).toBe('web-9');
    expect(await nameOf([])).toBeUndefined();
  });

  it('stays the one on record while that lives', async () => {
    const replacement = { name: 'web-9', uid: 'uid-new-web-9' };
    expect(await nameOf([made('web-8', 4), made('web-9', 5)], [], { replacement })).toBe('web-9');
  });
});

describe('a pod that was evicted', () => {
  it('is gone when it is no more, or another one has its name', async () => {
    expect((await seenBeside([])).pod).toBe('Gone');
    expect((await seenBeside([made('web-1', 4)])).pod).toBe('Gone');
    expect((await seenBeside([{ ...WEB_1, terminating: true }])).pod).toBe('Terminating');
    expect((await seenBeside([WEB_1])).pod).toBe('Running');
  });
});
