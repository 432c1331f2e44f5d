import { describe, expect, it } from 'vitest';
import { epochSeconds } from '../../../src/model/units.ts';
import { createPodHistory, type PodHistory } from '../../../src/observe/pod-history.ts';
import type { PodEnd, RequestRecord } from '../../../src/qos/ledger-record.ts';

const at = (second: number) => epochSeconds(1_800_000_000 + second);
const SUCCEEDED: PodEnd = { at: at(60), how: 'Succeeded' };

function see(history: PodHistory, uid: string, end?: PodEnd): void {
  const seen = { uid, createdAt: at(0), scheduledAt: at(1), mark: undefined, end, hot: undefined };
  history.saw({ seen, owner: 'job', priorityClassName: undefined });
}

/** A ledger counts all that is told of. */
function count(history: PodHistory): void {
  const record: RequestRecord = {
    namespace: 'shop',
    owner: { kind: 'Job', name: 'job', uid: 'job' },
    createdAt: at(0),
    desired: undefined,
    completedAt: undefined,
    pods: [...history.records()].map(({ pod }) => pod),
  };
  history.counted(record);
}

const told = (history: PodHistory) => [...history.records()].map(({ pod }) => pod.uid);

describe('the history of pods', () => {
  it('tells once of a pod that has ended, although it is there and changes afterwards', () => {
    const history = createPodHistory();
    see(history, 'done', SUCCEEDED);
    see(history, 'runs');
    expect(told(history)).toEqual(['done', 'runs']);
    count(history);
    expect(told(history)).toEqual(['runs']);
    see(history, 'done', SUCCEEDED);
    see(history, 'runs');
    expect(told(history)).toEqual(['runs']);
    history.deleted('done', at(90));
    expect(told(history)).toEqual(['runs']);
  });

  it('tells of a pod that is gone until it is counted', () => {
    const history = createPodHistory();
    see(history, 'runs');
    history.deleted('runs', at(30));
    expect(told(history)).toEqual(['runs']);
    count(history);
    expect(told(history)).toEqual([]);
  });

  it('takes pods for gone that exist no more, at an unknown time', () => {
    const history = createPodHistory();
    see(history, 'lost');
    see(history, 'runs');
    history.existing(new Set(['runs', 'unknown']));
    expect([...history.records()].map(({ pod: { uid, end, missedAt } }) => [uid, end, missedAt])).toEqual([
      ['lost', { at: undefined, how: 'Deleted' }, undefined],
      ['runs', undefined, undefined],
    ]);
    history.existing(new Set());
    expect([...history.records()].map(({ pod }) => pod.end?.how)).toEqual(['Deleted', 'Deleted']);
  });

  it('notes when a pod was found to be gone, and how it ended where that was seen', () => {
    const history = createPodHistory();
    see(history, 'lost');
    see(history, 'done', SUCCEEDED);
    history.deleted('lost', at(30));
    history.deleted('done', at(90));
    history.deleted('never seen', at(90));
    expect([...history.records()].map(({ pod: { uid, end, missedAt } }) => [uid, end, missedAt])).toEqual([
      ['lost', { at: undefined, how: 'Deleted' }, at(30)],
      ['done', SUCCEEDED, undefined],
    ]);
  });

  it('tells again of a pod that runs after it was counted', () => {
    const history = createPodHistory();
    see(history, 'runs');
    count(history);
    expect(told(history)).toEqual(['runs']);
    see(history, 'runs', SUCCEEDED);
    expect([...history.records()].map(({ pod }) => pod.end)).toEqual([SUCCEEDED]);
  });

  it('tells of a pod of the same UID as of a new one after it was counted and went', () => {
    const history = createPodHistory();
    see(history, 'done', SUCCEEDED);
    count(history);
    history.deleted('done', at(90));
    see(history, 'done');
    expect([...history.records()].map(({ pod }) => pod.end)).toEqual([undefined]);
  });

  it('forgets pods that went before an instant, or nobody knows when, and none that is there', () => {
    const history = createPodHistory();
    const ended = (uid: string, second: number) => see(history, uid, { at: at(second), how: 'Failed' });
    ended('before', 59);
    ended('then', 60);
    ended('there', 1);
    see(history, 'missed before');
    see(history, 'missed then');
    see(history, 'missed');
    see(history, 'runs');
    history.deleted('before', at(100));
    history.deleted('then', at(100));
    history.deleted('missed before', at(59));
    history.deleted('missed then', at(60));
    history.existing(new Set(['there', 'runs']));
    history.forgetGone(at(60));
    expect(told(history)).toEqual(['then', 'there', 'missed then', 'runs']);
  });

  it('keeps of pods that have ended only those that it is told to, and all that run', () => {
    const history = createPodHistory();
    see(history, 'kept', SUCCEEDED);
    see(history, 'dropped', SUCCEEDED);
    see(history, 'runs');
    history.keepEnded(new Set(['kept']));
    expect(told(history)).toEqual(['kept', 'runs']);
  });
});
