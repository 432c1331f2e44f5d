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
});
