import type { JSX } from 'preact';
import type { PageRole, PageState } from '../report/page/state.ts';
import type { Link } from './connection.ts';
import { livenessOf } from './liveness.ts';
import { ThemeToggle } from './theme.tsx';

interface HeaderProps {
  readonly state: PageState | undefined;
  readonly link: Link;
  readonly policy: string | undefined;
  readonly onPolicy: (name: string) => void;
}

const ROLES: Readonly<Record<PageRole, string>> = {
  Leader: 'from the operator: the replica that leads',
  Follower: 'from the operator: a replica that does not lead',
  Reader: 'read from the cluster',
  Planner: 'preview of a plan: nothing is moved',
  Files: 'preview of a plan from files: nothing is moved',
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
        <span class="cluster-name" title={state?.title}>
          {state?.title ?? '…'}
        </span>
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
  const { tone, text, detail } = livenessOf(link, state, new Date());
  return (
    <p class={`live live-${tone}`} role="status" title={detail}>
      <span class="dot" aria-hidden="true" />
      {text}
    </p>
  );
}
