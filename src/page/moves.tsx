import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { isForLoad } from '../model/move.ts';
import type { MoveRow, PlanRow } from '../report/page/state.ts';
import { OpenButton, Segmented, Table, useMore } from './controls.tsx';
import { clockTime, count, duration, percent, points, words } from './format.ts';
import { NodeName, useText } from './names.tsx';

type Filter = 'all' | 'open' | 'ended';

/** Phases by how they look: done as planned, done otherwise, under way, to come. */
const TONES: Readonly<Record<MoveRow['phase'], 'good' | 'bad' | 'busy' | 'wait'>> = {
  Planned: 'wait',
  Intent: 'busy',
  Evicting: 'busy',
  AwaitingReplacement: 'busy',
  Verifying: 'busy',
  Vacated: 'good',
  Landed: 'good',
  Missed: 'bad',
  Failed: 'bad',
  Skipped: 'bad',
  Aborted: 'bad',
};

/** What there is to say of a plan that has not begun, or never will. */
const IDLE: Readonly<Partial<Record<PlanRow['phase'], string>>> = {
  Proposed: 'Proposed only: nothing is moved',
  AwaitingApproval: 'No pod moves until you approve the plan',
  Superseded: 'Replaced by a newer run: nothing was moved',
};

const headsOf = (plan: PlanRow) => [
  ['#', 'number'] as const,
  ...(plan.phase in IDLE ? [] : [['State', 'narrow'] as const]),
  'Pod',
  <>
    From <Arrow /> to
  </>,
  ['Gain', 'number'] as const,
  ['Cost', 'number'] as const,
  'Reason',
];

interface MovesProps {
  readonly plan: PlanRow | undefined;
  readonly onPod: (pod: string) => void;
}

/** The moves of the newest plan with state, reason and cost. */
export function Moves({ plan, onPod }: MovesProps): JSX.Element {
  const [filter, setFilter] = useState<Filter>('all');
  const all = Object.entries(plan?.moves ?? {});
  const isOpen = ([, { phase }]: (typeof all)[number]): boolean => TONES[phase] === 'busy' || TONES[phase] === 'wait';
  const rows = all.filter((row) => filter === 'all' || isOpen(row) === (filter === 'open'));
  return (
    <section class="panel" aria-labelledby="moves-title">
      <div class="panel-head">
        <h2 id="moves-title">Moves</h2>
        {plan !== undefined && all.length > 0 && !(plan.phase in IDLE) && (
          <div class="controls">
            <Segmented<Filter>
              legend="Moves"
              value={filter}
              onChange={setFilter}
              options={[
                ['all', 'All'],
                ['open', 'Open'],
                ['ended', 'Ended'],
              ]}
            />
          </div>
        )}
      </div>
      {plan === undefined ? (
        <p class="empty">There is no plan: the last run found no move, or there was no run yet.</p>
      ) : (
        <>
          <Progress plan={plan} />
          <MoveTable plan={plan} rows={rows} onPod={onPod} />
        </>
      )}
    </section>
  );
}

function Progress({ plan }: { plan: PlanRow }): JSX.Element {
  const moves = Object.values(plan.moves);
  const tally = (tone: string): number => moves.filter(({ phase }) => TONES[phase] === tone).length;
  const cost = moves.reduce((sum, move) => sum + (move.measured ?? move.cost ?? 0), 0);
  const parts = [
    ['good', tally('good'), 'done'],
    ['busy', tally('busy'), 'under way'],
    ['bad', tally('bad'), 'not as planned'],
    ['wait', tally('wait'), 'to come'],
  ] as const;
  const idle = IDLE[plan.phase];
  const said = parts.filter(([, number]) => number > 0).map(([, number, what]) => `${number} ${what}`);
  return (
    <div class="progress">
      <p>
        <span class={`phase phase-plan-${plan.phase}`}>{words(plan.phase)}</span> <b>{plan.name}</b>
        <span class="quiet">
          {' '}
          · {clockTime(plan.takenAt)} · {count(moves.length, 'move')} · {duration(cost)} of lost service
          {plan.expectedHitRatio === undefined
            ? ''
            : ` · without steering, the scheduler would choose the planned node for ${percent(plan.expectedHitRatio, 0)} of the moves`}
        </span>
      </p>
      {idle === undefined && (
        <div class="bar" role="img" aria-label={`Progress: ${said.join(', ')}`}>
          {parts.map(
            ([tone, number]) => number > 0 && <span key={tone} class={`bar-${tone}`} style={{ flexGrow: number }} />,
          )}
        </div>
      )}
      <p class="quiet">{idle ?? said.join(' · ')}</p>
    </div>
  );
}

interface MoveTableProps extends Pick<MovesProps, 'onPod'> {
  readonly plan: PlanRow;
  readonly rows: readonly (readonly [string, MoveRow])[];
}

function MoveTable({ plan, rows, onPod }: MoveTableProps): JSX.Element {
  const [shown, more] = useMore(rows, 50);
  if (rows.length === 0) {
    return <p class="empty">None.</p>;
  }
  return (
    <>
      <Table label="Moves of the plan" heads={headsOf(plan)}>
        {shown.map(([place, move]) => (
          <Row key={place} place={Number(place)} move={move} isIdle={plan.phase in IDLE} onPod={onPod} />
        ))}
      </Table>
      {more}
    </>
  );
}

interface RowProps extends Pick<MovesProps, 'onPod'> {
  readonly place: number;
  readonly move: MoveRow;
  readonly isIdle: boolean;
}

function Row({ place, move, isIdle, onPod }: RowProps): JSX.Element {
  const text = useText();
  const { pod, owner, phase, from, to, removal, repairs, makesRoomFor, reason, outcome, after, landedOn, replacement } =
    move;
  const elsewhere = landedOn !== undefined && landedOn !== to;
  const [namespace] = pod.split('/');
  const there = replacement === undefined ? pod : `${namespace}/${replacement}`;
  const needs = (after ?? []).map((each) => each + 1).join(', ');
  return (
    <tr data-pod={pod}>
      <td class="number quiet" data-label="move">
        {place + 1}
      </td>
      {!isIdle && (
        <td>
          <span class={`phase phase-${TONES[phase]}`}>{words(phase)}</span>
        </td>
      )}
      <th scope="row">
        <OpenButton onOpen={() => onPod(there)}>{pod}</OpenButton>
        <span class="quiet line">{owner}</span>
      </th>
      <td class="route">
        <End node={from} /> <Arrow /> <End node={to} otherwise={removal === true ? 'removed' : 'queue'} />
        {elsewhere && (
          <span class="warn line">
            landed on <NodeName name={landedOn} />
          </span>
        )}
      </td>
      <td class="number" data-label="gain">
        {gainOf(move)}
      </td>
      <td class="number" data-label="cost">
        <Cost move={move} />
      </td>
      <td class="reason">
        {repairs !== undefined && <Repairs names={repairs} />}
        {makesRoomFor !== undefined && <span class="tag">makes room for {makesRoomFor}</span>}
        {text(reason)}
        {needs !== '' && <span class="quiet line">after {needs}</span>}
        {outcome !== undefined && phase !== 'Landed' && <span class="quiet line">{text(outcome)}</span>}
        {replacement !== undefined && <span class="quiet line">replaced by {replacement}</span>}
      </td>
    </tr>
  );
}

/** One end of a route. */
function End({ node, otherwise = 'queue' }: { node: string | undefined; otherwise?: string }): JSX.Element {
  return node === undefined ? <span>{otherwise}</span> : <NodeName name={node} />;
}

/** A move for another reason than the load is worth it all the same. */
function gainOf(move: MoveRow): string {
  return !isForLoad(move) && move.gain === 0 ? '–' : points(move.gain);
}

function Repairs({ names }: { names: NonNullable<MoveRow['repairs']> }): JSX.Element {
  return (
    <span class="tags">
      {names.map((name) => (
        <span key={name} class="tag">
          repair: {words(name)}
        </span>
      ))}
    </span>
  );
}

/** Drawn, since not every font has one. */
function Arrow(): JSX.Element {
  return (
    <svg class="arrow" viewBox="0 0 16 10" width="16" height="10" role="img" aria-label="to">
      <path d="M1 5h13M10 1.5L14 5l-4 3.5" />
    </svg>
  );
}

function Cost({ move: { cost, measured } }: { move: MoveRow }): JSX.Element {
  if (measured === undefined) {
    return <span title="expected">{cost === undefined ? '–' : `≈ ${duration(cost)}`}</span>;
  }
  return (
    <span title={cost === undefined ? 'measured' : `measured; expected ${duration(cost)}`}>{duration(measured)}</span>
  );
}
