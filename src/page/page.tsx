import { type JSX, render } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { PageState, PolicyRow } from '../report/page/state.ts';
import { type Connection, type Link, openConnection } from './connection.ts';
import { Details, type Subject } from './details.tsx';
import { Header } from './header.tsx';
import { History } from './history.tsx';
import { chosenPolicy } from './model.ts';
import { Moves } from './moves.tsx';
import { NodeNames, useShortNames } from './names.tsx';
import { Nodes } from './nodes.tsx';
import { Overview } from './overview.tsx';
import { Services } from './services.tsx';
import { SignIn } from './sign-in.tsx';
import { Stays } from './stays.tsx';
import { restoreTheme } from './theme.tsx';
import { Traffic } from './traffic.tsx';

function Page(): JSX.Element {
  const [state, setState] = useState<PageState | undefined>(undefined);
  const [link, setLink] = useState<Link>({ kind: 'Connecting' });
  const [policyName, setPolicyName] = useState<string | undefined>(undefined);
  const connection = useRef<Connection | undefined>(undefined);
  const names = useShortNames(state?.nodes ?? {});
  useEffect(() => {
    connection.current = openConnection({ state: setState, link: setLink });
  }, []);
  if (link.kind === 'SignIn') {
    return (
      <>
        <Header state={undefined} link={link} policy={undefined} onPolicy={setPolicyName} />
        <SignIn why={link.why} onToken={(token) => connection.current?.signIn(token)} />
      </>
    );
  }
  const chosen = state === undefined ? undefined : chosenPolicy(state, policyName);
  return (
    <NodeNames.Provider value={names}>
      <Header state={state} link={link} policy={chosen?.[0]} onPolicy={setPolicyName} />
      <Content state={state} link={link} policy={chosen} connection={connection.current} />
    </NodeNames.Provider>
  );
}

interface ContentProps {
  readonly state: PageState | undefined;
  readonly link: Link;
  readonly policy: readonly [string, PolicyRow] | undefined;
  readonly connection: Connection | undefined;
}

function Content({ state, link, policy, connection }: ContentProps): JSX.Element {
  const [subject, setSubject] = useState<Subject | undefined>(undefined);
  const openNode = useCallback((name: string) => setSubject({ kind: 'node', name }), []);
  const openPod = useCallback((name: string) => setSubject({ kind: 'pod', name }), []);
  const close = useCallback(() => setSubject(undefined), []);
  const ask = useCallback<Connection['ask']>(
    (query) => connection?.ask(query) ?? Promise.reject(new Error('there is no connection')),
    [connection],
  );
  if (state === undefined) {
    return (
      <main class="waiting">
        <p>{link.kind === 'Reconnecting' ? `${link.why}: trying again…` : 'Reading the cluster…'}</p>
      </main>
    );
  }
  const [name, row] = policy ?? [undefined, undefined];
  const isPreview = state.role === 'Planner' || state.role === 'Files';
  return (
    <main>
      {state.trouble !== undefined && <p class="notice notice-bad">{state.trouble}</p>}
      {name === undefined || row === undefined ? (
        <p class="notice">There is no RebalancePolicy. Apply one, or run evenkeel dashboard -p FILE to preview one.</p>
      ) : (
        <Overview state={state} name={name} policy={row} />
      )}
      <Nodes state={state} policy={row} onOpen={openNode} />
      {name !== undefined && row !== undefined && (
        <>
          {row.plan?.traffic !== undefined && <Traffic traffic={row.plan.traffic} />}
          <Moves key={row.plan?.name} plan={row.plan} onPod={openPod} />
          <div class={isPreview ? undefined : 'columns'}>
            <Stays key={name} policy={name} plan={row.plan} ask={ask} onPod={openPod} />
            {!isPreview && <History history={row.history} trigger={row.trigger} />}
          </div>
        </>
      )}
      {Object.keys(state.services).length > 0 && <Services services={state.services} classes={state.classes} />}
      <Details subject={subject} policy={name} ask={ask} onOpen={setSubject} onClose={close} />
    </main>
  );
}

restoreTheme();
const root = document.getElementById('page');
if (root !== null) {
  render(<Page />, root);
}
