import type { StrategyName } from '../api/v1alpha1/rebalance-policy.ts';
import { STRATEGY_TRAITS } from '../plan/strategies/traits.ts';
import type { Turnover } from '../ports.ts';

/** A pod that waits for its turn. */
export interface Queued {
  readonly uid: string;
  /** UID of its controller; undefined for a pod without one. */
  readonly owner: string | undefined;
}

/** The pods that wait for room: the loop of the gates reports them, the loop of the policies reads them. */
export interface GateQueue {
  /** Says which pods wait for their turn now. Others than last time, or other chances for the same, are news. */
  tell(queue: readonly Queued[]): void;
  /** The news so far, counted. */
  news(): GateQueueNews;
  /** Registers a function that is called with every change. */
  onNews(hear: () => void): void;
}

/** News by whom they are for. */
export interface GateQueueNews {
  /** Counts up when the waiting pods or the free room have changed. */
  readonly room: number;
  /** A request has come, or one or a node may have gone or failed; not that pods of the same requests took each other's places. */
  readonly requests: number;
}

/** Strategies that are run when there are news, as far as `refinements` says which ones. */
export function newsFor(
  { room, requests }: GateQueueNews,
  strategy: { readonly type: StrategyName; readonly qosDriven?: { readonly refinements: 'Standard' | 'None' } },
): number | undefined {
  if (!STRATEGY_TRAITS[strategy.type].admitsWaitingPods) {
    return undefined;
  }
  // As published, it runs when a request arrives or ends, when a node joins or leaves, and at the latest every period.
  return strategy.qosDriven?.refinements === 'None' ? requests : room;
}

/** Most controllers that are remembered: one that is forgotten counts as new when its pods wait again. */
const MAX_OWNERS = 10_000;

/** Nothing waits yet. */
export function createGateQueue(turnover: () => Turnover): GateQueue {
  const owners = new Set<string>();
  const last = { room: '', requests: 0 };
  const news = { room: 0, requests: 0 };
  let down: ReadonlySet<string> = new Set();
  let hear = (): void => undefined;
  /** Whether one of a controller waits that is not remembered; whoever has waited longest ago is forgotten first. */
  const meet = (queue: readonly Queued[]): boolean => {
    let isStranger = false;
    for (const { owner, uid } of queue) {
      const key = owner ?? uid;
      isStranger = !owners.delete(key) || isStranger;
      owners.add(key);
    }
    for (const owner of owners) {
      if (owners.size <= MAX_OWNERS) {
        break;
      }
      owners.delete(owner);
    }
    return isStranger;
  };
  return {
    tell(queue) {
      const { room, requests, stranded } = turnover();
      const uids = [...queue.map(({ uid }) => uid), ...stranded].sort();
      const picture = uids.length === 0 ? '' : `${uids.join(' ')} ${room}`;
      const isNewlyDown = stranded.some((uid) => !down.has(uid));
      down = new Set(stranded);
      const isNewRequest = meet(queue) || isNewlyDown;
      if (isNewRequest || (uids.length > 0 && requests !== last.requests)) {
        last.requests = requests;
        news.requests += 1;
      }
      if (picture !== last.room) {
        last.room = picture;
        news.room += 1;
        hear();
      }
    },
    news: () => ({ ...news }),
    onNews: (listener) => {
      hear = listener;
    },
  };
}
