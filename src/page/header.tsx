import type { JSX } from 'preact';
import type { PageRole, PageState } from '../report/page/state.ts';
import type { Link } from './connection.ts';
import { clockTime } from './format.ts';
import { ThemeToggle } from './theme.tsx';

interface HeaderProps {
  readonly state: PageState | undefined;
  readonly link: Link;
  readonly policy: string | undefined;
  readonly onPolicy: (name: string) => void;
}

const ROLES: Readonly<Record<PageRole, string>> = {
  Leader: 'the replica that leads',
  Follower: 'a replica that does not lead: what its caches say',
  Reader: 'read from the cluster',
  Planner: 'preview only',
};

/** Name, cluster, policy, and whether what is shown is live. */
export function Header({ state, link, policy, onPolicy }: HeaderProps): JSX.Element {
  const names = Object.keys(state?.policies ?? {});
  return (
    <header class="top">
      <div class="brand">
        <img src="icon.svg" alt="" width="28" height="28" />
        <h1>Evenkeel</h1>
      </div>
      <p class="cluster">
        <span class="cluster-name">{state?.title ?? '…'}</span>
        {state !== undefined && <span class="quiet">{ROLES[state.role]}</span>}
      </p>
      {names.length > 1 && (
        <label class="policy-choice">
          <span>Policy</span>
          <select value={policy} onChange={(event) => onPolicy(event.currentTarget.value)}>
            {names.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <LiveState link={link} state={state} />
      <ThemeToggle />
    </header>
  );
}

function LiveState({ link, state }: Pick<HeaderProps, 'link' | 'state'>): JSX.Element {
  const [tone, text, detail] = livenessOf(link, state);
  return (
    <p class={`live live-${tone}`} role="status" title={detail}>
      <span class="dot" aria-hidden="true" />
      {text}
    </p>
  );
}

function livenessOf(link: Link, state: PageState | undefined): readonly [tone: string, text: string, detail: string] {
  const taken = state?.takenAt === undefined ? undefined : clockTime(state.takenAt);
  switch (link.kind) {
    case 'Live':
      if (state?.trouble !== undefined) {
        return ['stale', taken === undefined ? 'No data yet' : `Stale since ${taken}`, state.trouble];
      }
      return ['on', taken === undefined ? 'Live' : `Live · ${taken}`, 'time of the newest snapshot'];
    case 'Reconnecting': {
      const since = link.since === undefined ? '' : ` · stale since ${clockTime(link.since)}`;
      return ['off', `Reconnecting${since}`, link.why];
    }
    case 'SignIn':
      return ['off', 'Signed out', ''];
    default:
      return ['wait', 'Connecting', ''];
  }
}
