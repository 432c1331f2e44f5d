import { describe, expect, it } from 'vitest';
import { liveCheck } from '../../../src/execute/live-check.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aWorld, forever, policy, WEB_1, WEB_2 } from '../../support/execution.ts';
import { NOON } from '../../support/test-clock.ts';

const WAITING: PodInfo = {
  ...WEB_2,
  name: 'waiting',
  uid: 'uid-waiting',
  owner: undefined,
  nodeName: undefined,
  phase: 'Pending',
  ready: false,
  waiting: { gated: false, pinnedTo: undefined, unschedulable: true },
};

/** What the check says of a move that makes room for shop/waiting, with this pod in the cluster. */
async function checkedBeside(pod: PodInfo) {
  const w = aWorld([WEB_1, WEB_2, pod]);
  const move = { ...aMove(WEB_1, 'b'), makesRoomFor: `${WEB_1.namespace}/waiting` };
  const options = resolveOptions(policy.spec);
  return await liveCheck({ move, plannedAt: epochSeconds(NOON), options, inFlight: [] }, w.ports, forever);
}

describe('a move that makes room', () => {
  it('goes on while its pod waits, or another of its namespace that may have lost its room to it', async () => {
    expect(await checkedBeside(WAITING)).toMatchObject({ kind: 'Clear' });
    expect(await checkedBeside({ ...WAITING, name: 'sibling' })).toMatchObject({ kind: 'Clear' });
  });

  it.each<[string, Partial<PodInfo>]>([
    ['has a node', { nodeName: 'b', phase: 'Running', ready: true, waiting: undefined }],
    ['is only new', { waiting: { gated: false, pinnedTo: undefined, unschedulable: false } }],
    ['is in another namespace', { namespace: 'other' }],
  ])('is skipped when whatever else is there %s', async (_, fields) => {
    expect(await checkedBeside({ ...WAITING, ...fields })).toEqual({
      kind: 'Skip',
      why: `${WEB_1.namespace}/waiting does not wait for a node any more`,
    });
  });
});
