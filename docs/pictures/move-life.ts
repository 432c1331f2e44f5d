import type { MovePhase } from '../../src/api/v1alpha1/rebalance-plan.ts';
import { isFinal, TRANSITIONS } from '../../src/execute/transitions.ts';
import { ARROW_HEAD, at, box, line, picture, text } from './svg.ts';

const WIDTH = 156;
const HALF = 16;
const TOP = 110;
const BOTTOM = 270;

/** Where each phase stands: those that go on above, ends below. */
const PLACES: Readonly<Record<MovePhase, number>> = {
  Planned: 90,
  Intent: 270,
  Evicting: 450,
  AwaitingReplacement: 630,
  Verifying: 810,
  Aborted: 60,
  Skipped: 235,
  Failed: 410,
  Vacated: 560,
  Missed: 700,
  Landed: 840,
};
const END_WIDTH = 100;

/** The phases of a move and every transition between them, as the state machine has them. */
export function moveLife(): string {
  const phases = Object.keys(TRANSITIONS) as readonly MovePhase[];
  const edges = phases.flatMap((from) => TRANSITIONS[from].map((to) => ({ from, to })));
  const boxes = phases.map((phase) =>
    box(PLACES[phase], isFinal(phase) ? BOTTOM : TOP, isFinal(phase) ? END_WIDTH : WIDTH, phase),
  );
  const label = `Phases of a move: ${edges.map(({ from, to }) => `${from} to ${to}`).join(', ')}`;
  return picture(920, 310, label, [
    ARROW_HEAD,
    text(10, 20, 'A move is written down before each step. Below: how it can end.', { bold: true }),
    ...edges.filter(({ from, to }) => from !== to).map(edge),
    ...boxes,
  ]);
}

interface Edge {
  readonly from: MovePhase;
  readonly to: MovePhase;
}

function edge({ from, to }: Edge): string {
  const [left, right] = [PLACES[from], PLACES[to]];
  if (isFinal(to)) {
    const slant = (right - left) / 4;
    const path = `M${at(left + slant / 3)} ${TOP + HALF}C${at(left + slant)} ${TOP + 90} ${at(right - slant)} ${BOTTOM - 90} ${at(right)} ${BOTTOM - HALF}`;
    return line(path, { arrow: true });
  }
  if (right > left && right - left < 200) {
    return line(`M${at(left + WIDTH / 2)} ${TOP}L${at(right - WIDTH / 2)} ${TOP}`, { arrow: true, width: 2 });
  }
  const back = right < left;
  const height = TOP - HALF - 22 - Math.abs(right - left) / 12;
  const [start, end] = back ? [left - 20, right + 20] : [left + 20, right - 20];
  const path = `M${at(start)} ${TOP - HALF}C${at(start)} ${at(height)} ${at(end)} ${at(height)} ${at(end)} ${TOP - HALF}`;
  return line(path, { arrow: true, dashed: back });
}
