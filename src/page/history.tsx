import type { JSX } from 'preact';
import type { HistoryRow, PolicyRow } from '../report/page/state.ts';
import { Table } from './controls.tsx';
import { clockTime, percent, words } from './format.ts';

/** Runs of the policy: the spread that it found, the one that it predicted, and the one that was measured afterwards. */
export function History({ history, trigger }: Pick<PolicyRow, 'history' | 'trigger'>): JSX.Element {
  const top = Math.max(
    trigger,
    0.01,
    ...history.flatMap(({ before = 0, planned = 0, actual = 0 }) => [before, planned, actual]),
  );
  const heads = [
    'Run',
    'Outcome',
    ...['Moves', 'Found', 'Predicted', 'Measured'].map((head) => [head, 'number'] as const),
    [`0 – ${percent(top, 0)}`, 'wide-only'] as const,
  ];
  return (
    <section class="panel" aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">History</h2>
        <p class="quiet key">
          <span class="key-before">found</span> <span class="key-planned">predicted</span>{' '}
          <span class="key-actual">measured</span> spread, highest minus lowest node
        </p>
      </div>
      {history.length === 0 ? (
        <p class="empty">No run yet.</p>
      ) : (
        <Table label="Runs of the policy" heads={heads}>
          {history.map((run) => (
            <Row key={run.time} run={run} top={top} trigger={trigger} />
          ))}
        </Table>
      )}
    </section>
  );
}

const FIGURES = ['found', 'predicted', 'measured'];

interface RowProps {
  readonly run: HistoryRow;
  readonly top: number;
  readonly trigger: number;
}

function Row({ run, top, trigger }: RowProps): JSX.Element {
  const { time, outcome, moves, before, planned, actual } = run;
  return (
    <tr>
      <th scope="row">{clockTime(time)}</th>
      <td data-label="outcome">{words(outcome)}</td>
      <td class="number" data-label="moves">
        {moves}
      </td>
      {[before, planned, actual].map((value, index) => (
        <td key={index} class="number" data-label={FIGURES[index]}>
          {value === undefined ? <span class="quiet">–</span> : percent(value)}
        </td>
      ))}
      <td class="wide-only">
        <Chart run={run} top={top} trigger={trigger} />
      </td>
    </tr>
  );
}

function Chart({ run: { before, planned, actual }, top, trigger }: RowProps): JSX.Element {
  const at = (value: number): string => ((196 * value) / top + 2).toFixed(1);
  return (
    <svg class="dumbbell" viewBox="0 0 200 20" width="200" height="20" aria-hidden="true">
      <path class="track" d="M2 10H198" />
      <path class="trigger" d={`M${at(trigger)} 2v16`} />
      {before !== undefined && planned !== undefined && <path class="span" d={`M${at(planned)} 10H${at(before)}`} />}
      {before !== undefined && <circle class="dot-before" cx={at(before)} cy="10" r="4" />}
      {planned !== undefined && <circle class="dot-planned" cx={at(planned)} cy="10" r="4" />}
      {actual !== undefined && <path class="dot-actual" d={`M${at(actual)} 4l5 6l-5 6l-5 -6z`} />}
    </svg>
  );
}
