import type { PageState } from '../report/page/state.ts';
import type { Link } from './connection.ts';
import { age, clockTime } from './format.ts';

/** How current the page is: a tone for its colour, a few words, and a longer text for the tooltip. */
export interface Liveness {
  readonly tone: 'on' | 'file' | 'stale' | 'off' | 'wait';
  readonly text: string;
  readonly detail: string;
}

/** Seconds from which on a snapshot in a file counts as old: a cluster changes from day to day. */
const OLD = 86_400;

/** How current what is shown is, at this time in the browser. */
export function livenessOf(link: Link, state: PageState | undefined, now: Date): Liveness {
  const taken = state?.takenAt === undefined ? undefined : clockTime(state.takenAt, now);
  switch (link.kind) {
    case 'Live':
      if (state?.trouble !== undefined) {
        const text = taken === undefined ? 'No data yet' : `Stale since ${taken}`;
        return { tone: 'stale', text, detail: state.trouble };
      }
      if (state?.role === 'Files') {
        return snapshotAge(state.takenAt, now);
      }
      return {
        tone: 'on',
        text: taken === undefined ? 'Live' : `Live · ${taken}`,
        detail: 'time of the newest snapshot',
      };
    case 'Reconnecting': {
      const since = link.since === undefined ? '' : ` · stale since ${clockTime(link.since, now)}`;
      return { tone: 'off', text: `Reconnecting${since}`, detail: link.why };
    }
    case 'SignIn':
      return { tone: 'off', text: 'Signed out', detail: '' };
    default:
      return { tone: 'wait', text: 'Connecting', detail: '' };
  }
}

/** Files never change, so that they are not live however new they are. */
function snapshotAge(takenAt: string | undefined, now: Date): Liveness {
  if (takenAt === undefined) {
    return { tone: 'wait', text: 'Snapshot', detail: '' };
  }
  const seconds = (now.getTime() - Date.parse(takenAt)) / 1000;
  const taken = clockTime(takenAt, now);
  const text = seconds < -60 ? `Snapshot of ${taken}` : `Snapshot, ${age(seconds)} old`;
  return { tone: seconds > OLD ? 'stale' : 'file', text, detail: `taken at ${taken}, read from files` };
}
