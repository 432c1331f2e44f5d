import type { JSX } from 'preact';
import { bitRate } from '../model/bandwidth.ts';
import type { TrafficRow } from '../report/page/state.ts';
import { Table } from './controls.tsx';
import { PHASE_NAMES } from './model.ts';
import { placesOnCircle, type Wire, wiresOf } from './wires.ts';

/** What applications say between domains before the plan and as planned: two pictures on one scale, and the figures. */
export function Traffic({ traffic }: { traffic: TrafficRow }): JSX.Element {
  const { domains, before, planned, between } = traffic;
  const { names, wires, left } = wiresOf(between);
  return (
    <section class="panel" aria-labelledby="traffic-title">
      <div class="panel-head">
        <h2 id="traffic-title">Traffic between {domains}</h2>
        <p class="quiet">
          {bitRate(before)} before the plan, {bitRate(planned)} as planned
        </p>
      </div>
      {names.length === 0 ? (
        <p class="empty">No traffic passes between {domains}.</p>
      ) : (
        <>
          <div class="wirings">
            {(['before', 'planned'] as const).map((phase) => (
              <Wiring key={phase} phase={phase} total={traffic[phase]} names={names} wires={wires} />
            ))}
          </div>
          {left > 0 && <p class="quiet">The pictures show the {names.length} with the most traffic.</p>}
          <Table
            label={`Traffic by pair of ${domains}`}
            heads={['Between', ['Before', 'number'], ['Planned', 'number']]}
          >
            {Object.entries(between).map(([pair, row]) => (
              <tr key={pair}>
                <th scope="row">{pair.replace('/', ' and ')}</th>
                <td class="number" data-label="before">
                  {bitRate(row.before)}
                </td>
                <td class="number" data-label="planned">
                  {bitRate(row.planned)}
                </td>
              </tr>
            ))}
          </Table>
        </>
      )}
    </section>
  );
}

interface WiringProps {
  readonly phase: 'before' | 'planned';
  readonly total: number;
  readonly names: readonly string[];
  readonly wires: readonly Wire[];
}

/** Room above the first domain and below the last one, with their names. */
const TOP = -110;
const BELOW = 32;

/** Domains on a circle, joined by lines as wide as what passes. */
function Wiring({ phase, total, names, wires }: WiringProps): JSX.Element {
  const title = PHASE_NAMES[phase];
  const places = placesOnCircle(names.length);
  const height = Math.max(...places.map(({ y }) => y)) + BELOW - TOP;
  const placeOf = (index: number): { readonly x: number; readonly y: number } => places[index] ?? { x: 0, y: 0 };
  return (
    <figure class="wiring">
      <svg viewBox={`-160 ${TOP} 320 ${height}`} role="img" aria-label={`${title}: ${bitRate(total)}`}>
        {wires.map((wire) => {
          const [one, other] = [placeOf(wire.from), placeOf(wire.to)];
          const width = wire[phase];
          return (
            width > 0 && (
              <line
                key={`${wire.from}/${wire.to}`}
                class="wire"
                x1={one.x}
                y1={one.y}
                x2={other.x}
                y2={other.y}
                stroke-width={width.toFixed(2)}
              >
                <title>{`${names[wire.from]} and ${names[wire.to]}`}</title>
              </line>
            )
          );
        })}
        {names.map((name, index) => {
          const { x, y } = placeOf(index);
          return (
            <g key={name}>
              <circle class="wire-end" cx={x} cy={y} r="7" />
              <text class="wire-name" x={x} y={y < 0 ? y - 14 : y + 24} text-anchor="middle">
                {name}
              </text>
            </g>
          );
        })}
      </svg>
      <figcaption>
        {title} <b>{bitRate(total)}</b>
      </figcaption>
    </figure>
  );
}
