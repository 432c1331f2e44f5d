import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NodeDetail, PageDetail, PodDetail, PodRow, ReasonRow } from '../report/page/detail.ts';
import { NodeButton, OpenButton, Table, useMore } from './controls.tsx';
import { count, percent, points, words } from './format.ts';
import { NodeName, useText } from './names.tsx';

/** What is looked at in detail. */
export interface Subject {
  readonly kind: 'node' | 'pod';
  readonly name: string;
}

interface DetailsProps {
  readonly subject: Subject | undefined;
  readonly policy: string | undefined;
  readonly ask: (query: URLSearchParams) => Promise<PageDetail>;
  readonly onOpen: (subject: Subject) => void;
  readonly onClose: () => void;
}

type Answer = PageDetail | { readonly kind: 'failed'; readonly why: string } | undefined;

/** A node or a pod in detail, as the planner sees it now. Escape closes it, and the focus goes back to where it was. */
export function Details({ subject, policy, ask, onOpen, onClose }: DetailsProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [answer, setAnswer] = useState<Answer>(undefined);
  const isOpen = subject !== undefined;
  useEffect(() => {
    if (isOpen) {
      dialog.current?.showModal();
    } else {
      dialog.current?.close();
    }
  }, [isOpen]);
  useEffect(() => {
    let isCurrent = true;
    setAnswer(undefined);
    if (subject !== undefined) {
      const query = new URLSearchParams({ [subject.kind]: subject.name, ...(policy === undefined ? {} : { policy }) });
      ask(query).then(
        (detail) => isCurrent && setAnswer(detail),
        (error: unknown) => isCurrent && setAnswer({ kind: 'failed', why: String((error as Error).message) }),
      );
    }
    return () => {
      isCurrent = false;
    };
  }, [subject, policy, ask]);
  return (
    <dialog ref={dialog} class="details" aria-labelledby="details-title" onClose={onClose}>
      <div class="details-head">
        <h2 id="details-title">
          <span class="quiet">{subject?.kind === 'pod' ? 'Pod' : 'Node'}</span>{' '}
          {subject?.kind === 'node' ? <NodeName name={subject.name} /> : subject?.name}
        </h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
            <path d="M5 5l10 10M15 5L5 15" />
          </svg>
        </button>
      </div>
      <div class="details-body" aria-live="polite">
        {answer === undefined && isOpen && <p class="empty">Asking the planner…</p>}
        {answer?.kind === 'failed' && <p class="notice notice-bad">{answer.why}</p>}
        {answer?.kind === 'node' && <NodeView node={answer} onOpen={onOpen} />}
        {answer?.kind === 'pod' && <PodView pod={answer} onOpen={onOpen} />}
      </div>
    </dialog>
  );
}

type Opening = Pick<DetailsProps, 'onOpen'>;

function NodeView({ node, onOpen }: { node: NodeDetail } & Opening): JSX.Element {
  const { absent, load, mean, resources, pods, candidates, policy } = node;
  return (
    <>
      <dl class="figures">
        {load !== undefined && <Pair label={`Load by policy ${policy}`} value={percent(load)} />}
        {mean !== undefined && <Pair label="Mean of all nodes" value={percent(mean)} />}
        {resources.map(({ name, allocatable, requested }) => (
          <Pair key={name} label={`${name} requested`} value={`${requested} of ${allocatable}`} />
        ))}
      </dl>
      {absent !== undefined && <p class="notice">It takes no part: {absent}.</p>}
      <PodList title={`${count(pods.length, 'pod')} here`} pods={pods} onOpen={onOpen} />
      <PodList
        title={candidates.length === 0 ? 'No pod would gain by coming here' : 'Would gain most by coming here'}
        pods={candidates}
        onOpen={onOpen}
      />
    </>
  );
}

function Pair({ label, value }: { label: string; value: string }): JSX.Element {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

interface PodListProps extends Opening {
  readonly title: string;
  readonly pods: readonly (PodRow & { readonly gain?: number })[];
}

function PodList({ title, pods, onOpen }: PodListProps): JSX.Element {
  const [shown, more] = useMore(pods, 40);
  return (
    <>
      <h3>{title}</h3>
      {pods.length > 0 && (
        <Table label={title} heads={['Pod', ['Adds', 'number'], 'In a plan made now']}>
          {shown.map((pod) => (
            <tr key={pod.pod}>
              <th scope="row">
                <OpenButton onOpen={() => onOpen({ kind: 'pod', name: pod.pod })}>{pod.pod}</OpenButton>
                <span class="quiet line">{pod.owner ?? 'without a controller'}</span>
              </th>
              <td class="number" data-label="adds">
                {pod.load === undefined ? '–' : percent(pod.load)}
              </td>
              <td class="reason">
                <Decision pod={pod} />
                {pod.gain !== undefined && <span class="quiet line">would gain {points(pod.gain)}</span>}
              </td>
            </tr>
          ))}
        </Table>
      )}
      {more}
    </>
  );
}

function Decision({ pod: { decision, code, message } }: { pod: PodRow }): JSX.Element {
  const tone = decision === 'Moves' || decision === 'Removed' ? 'busy' : 'wait';
  return (
    <>
      <span class={`phase phase-${tone}`}>{code === undefined ? words(decision) : words(code)}</span>{' '}
      {useText()(message)}
    </>
  );
}

function PodView({ pod, onOpen }: { pod: PodDetail } & Opening): JSX.Element {
  const { node, owner, load, protections, nodes, allNodes, fittingNodes, refusals } = pod;
  const refused = Object.entries(refusals).map(([filter, number]) => `${filter} ${number}`);
  return (
    <>
      <p>
        {owner ?? 'Without a controller'}
        {node === undefined ? ', has no node' : ', runs on '}
        {node !== undefined && <NodeButton name={node} onOpen={(name) => onOpen({ kind: 'node', name })} />}
        {load === undefined ? '' : ` and adds ${percent(load)} to its load`}.
      </p>
      <p class="reason">
        <Decision pod={pod} />
      </p>
      {protections.length > 0 && (
        <>
          <h3>What protects it, whatever the loads are</h3>
          <Remarks remarks={protections} />
        </>
      )}
      <h3>
        Fits on {fittingNodes.toLocaleString('en')} of {count(allNodes, 'node')}
      </h3>
      {refused.length > 0 && <p class="quiet">Refused by {refused.join(', ')}</p>}
      <PodNodes pod={pod} onOpen={onOpen} />
      {allNodes > nodes.length && <p class="quiet">The first {nodes.length} are shown.</p>}
    </>
  );
}

function PodNodes({ pod: { nodes }, onOpen }: { pod: PodDetail } & Opening): JSX.Element {
  return (
    <Table
      label="Verdict of each node"
      heads={['Node', 'Fits', ['Load', 'number'], ['Gain', 'number'], 'Filters and budgets']}
    >
      {nodes.map(({ node, current, fits, load, gain, remarks }) => (
        <tr key={node}>
          <th scope="row">
            <NodeButton name={node} onOpen={(name) => onOpen({ kind: 'node', name })} />
          </th>
          <td data-label="fits">{current ? 'runs here' : fits ? 'yes' : 'no'}</td>
          <td class="number" data-label="load">
            {load === undefined ? '–' : percent(load)}
          </td>
          <td class="number" data-label="gain">
            {gain === undefined ? '–' : points(gain)}
          </td>
          <td class="reason">
            <Remarks remarks={remarks} />
          </td>
        </tr>
      ))}
    </Table>
  );
}

function Remarks({ remarks }: { remarks: readonly ReasonRow[] }): ComponentChildren {
  const text = useText();
  return remarks.length === 0 ? null : (
    <ul class="remarks">
      {remarks.map(({ code, message, numbers }) => (
        <li key={`${code} ${message}`} title={figuresOf(numbers)}>
          <b>{code}</b> {text(message)}
        </li>
      ))}
    </ul>
  );
}

function figuresOf(numbers: ReasonRow['numbers']): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');
}
