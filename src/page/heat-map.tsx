import { Component, type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { NodeRow, NodeShift, PageResource } from '../report/page/state.ts';
import { wholePercent } from './format.ts';
import { heatOf, loadIn, type MapNode, PHASE_NAMES, type Phase, RESOURCE_NAMES } from './model.ts';
import { useNames } from './names.tsx';

interface HeatMapProps {
  /** Zone or pool, where they are not all nodes. */
  readonly group?: string | undefined;
  readonly nodes: readonly MapNode[];
  readonly resources: readonly PageResource[];
  readonly phase: Phase;
  readonly onOpen: (node: string) => void;
}

/** More nodes than that are shown without their names, which the line below the map has. */
const MOST_NAMED = 120;
/** Characters of a name that tiles are made wide enough for; a longer one is cut, and its tooltip is whole. */
const LONGEST_NAME = 24;

/**
 * A cell for each node and resource, with its figure. To assistive technology it is a grid whose rows are nodes; by keys one
 * walks it as it looks.
 */
export function HeatMap({ group, nodes, resources, phase, onOpen }: HeatMapProps): JSX.Element {
  const grid = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  const names = useNames();
  const shown = nodes.map((node) => names(node.name));
  const longest = shown.reduce((most, { length }) => Math.max(most, length), 0);
  const point = (event: Event): void => {
    const cell = cellOf(event);
    if (cell !== undefined) {
      setPointed(cell.getAttribute('aria-label') ?? undefined);
      if (event.type === 'focusin') {
        makeCurrent(cell);
      }
    }
  };
  const walk = (event: KeyboardEvent): void => {
    const cell = cellOf(event);
    const target = cell === undefined ? undefined : neighbourOf(cell, event.key, resources.length);
    if (target !== undefined) {
      event.preventDefault();
      target.focus();
    } else if (cell !== undefined && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      onOpen(nodes[Number(cell.dataset['node'])]?.name ?? '');
    }
  };
  const open = (event: MouseEvent): void => {
    const cell = cellOf(event);
    if (cell !== undefined) {
      onOpen(nodes[Number(cell.dataset['node'])]?.name ?? '');
    }
  };
  return (
    <div class="map">
      {/* biome-ignore lint/a11y/useSemanticElements: a table cannot be laid out in as many columns as there is room for */}
      {/* biome-ignore lint/a11y/useKeyWithMouseEvents: focusin is the event that bubbles */}
      <div
        ref={grid}
        class={nodes.length > MOST_NAMED ? 'grid grid-dense' : 'grid'}
        style={{ '--name': Math.min(longest, LONGEST_NAME), '--tiles': nodes.length }}
        role="grid"
        aria-label={`Load by node and resource${group === undefined ? '' : ` in ${group}`}, ${PHASE_NAMES[phase].toLowerCase()}`}
        aria-rowcount={nodes.length + 1}
        aria-colcount={resources.length + 1}
        onFocusIn={point}
        onMouseOver={point}
        onKeyDown={walk}
        onClick={open}
      >
        {/* biome-ignore lint/a11y/useSemanticElements: part of a grid that cannot be laid out as a table */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, one of them at a time */}
        <div role="row" class="hidden" aria-rowindex={1}>
          {['Node', ...resources.map((resource) => RESOURCE_NAMES[resource])].map((title) => (
            // biome-ignore lint/a11y/useSemanticElements: part of a grid that cannot be laid out as a table
            // biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, one of them at a time
            <span role="columnheader" key={title}>
              {title}
            </span>
          ))}
        </div>
        {nodes.map((node, place) => (
          <Tile
            key={node.name}
            {...node}
            short={shown[place] ?? node.name}
            place={place}
            resources={resources}
            phase={phase}
          />
        ))}
      </div>
      <p class="readout">{pointed ?? 'Point at a cell or use the arrow keys; a click or Enter opens the node.'}</p>
    </div>
  );
}

interface TileProps extends MapNode {
  readonly short: string;
  readonly place: number;
  readonly resources: readonly PageResource[];
  readonly phase: Phase;
}

/** One node; drawn anew only when something of it has changed. */
class Tile extends Component<TileProps> {
  override shouldComponentUpdate(next: Readonly<TileProps>): boolean {
    const { short, row, shift, place, phase, resources } = this.props;
    return (
      short !== next.short ||
      row !== next.row ||
      shift !== next.shift ||
      place !== next.place ||
      phase !== next.phase ||
      resources.join() !== next.resources.join()
    );
  }

  render({ name, short, row, shift, place, resources, phase }: TileProps): JSX.Element {
    return (
      // biome-ignore lint/a11y/useSemanticElements: part of a grid that cannot be laid out as a table
      // biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, one of them at a time
      <div role="row" class={`tile tile-${row.status}`} aria-rowindex={place + 2}>
        {/* biome-ignore lint/a11y/useSemanticElements: part of a grid that cannot be laid out as a table */}
        {/* biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, one of them at a time */}
        <span role="rowheader" class="tile-name" title={name}>
          {short}
          {row.status === 'Ready' ? '' : `, ${row.status}`}
        </span>
        {resources.map((resource, index) => (
          <Cell
            key={resource}
            label={labelOf(name, resource, row, shift)}
            load={loadIn(phase, resource, row, shift)}
            isMoved={shift !== undefined && (shift.before[resource] ?? 0) !== (shift.planned[resource] ?? 0)}
            node={place}
            index={index}
          />
        ))}
      </div>
    );
  }
}

interface CellProps {
  readonly label: string;
  readonly load: number | undefined;
  readonly isMoved: boolean;
  readonly node: number;
  readonly index: number;
}

function Cell({ label, load, isMoved, node, index }: CellProps): JSX.Element {
  const heat = load === undefined ? 'unknown' : String(heatOf(load));
  return (
    // biome-ignore lint/a11y/useSemanticElements: part of a grid that cannot be laid out as a table
    <span
      role="gridcell"
      class={isMoved ? `cell heat-${heat} moved` : `cell heat-${heat}`}
      aria-label={label}
      aria-colindex={index + 2}
      tabIndex={node === 0 && index === 0 ? 0 : -1}
      data-node={node}
      data-index={index}
    >
      {load === undefined ? '–' : wholePercent(load)}
    </span>
  );
}

function labelOf(name: string, resource: PageResource, row: NodeRow, shift: NodeShift | undefined): string {
  const said = (phase: Phase): string => {
    const load = loadIn(phase, resource, row, shift);
    return load === undefined ? '– % (not known)' : `${wholePercent(load)} %`;
  };
  const status = row.status === 'Ready' ? '' : `, ${row.status}`;
  const figures =
    shift === undefined
      ? `${said('now')} now`
      : `${said('now')} now, ${said('before')} before, ${said('planned')} planned`;
  return `${name}${status} · ${RESOURCE_NAMES[resource]} ${figures}`;
}

function cellOf({ target }: Event): HTMLElement | undefined {
  return target instanceof Element ? (target.closest<HTMLElement>('.cell') ?? undefined) : undefined;
}

/** One cell of the grid can be tabbed to: the one where the user was. */
function makeCurrent(cell: HTMLElement): void {
  for (const other of cell.closest('.grid')?.querySelectorAll<HTMLElement>('[tabindex="0"]') ?? []) {
    other.tabIndex = -1;
  }
  cell.tabIndex = 0;
}

/** The cell that a key leads to, as the grid is laid out now. */
function neighbourOf(cell: HTMLElement, key: string, resources: number): HTMLElement | undefined {
  const grid = cell.closest('.grid');
  const [node, index] = [Number(cell.dataset['node']), Number(cell.dataset['index'])];
  const find = (place: number, resource: number): HTMLElement | undefined =>
    grid?.querySelector<HTMLElement>(`[data-node="${place}"][data-index="${resource}"]`) ?? undefined;
  switch (key) {
    case 'ArrowLeft':
      return find(node - 1, index);
    case 'ArrowRight':
      return find(node + 1, index);
    case 'ArrowUp':
      return index > 0 ? find(node, index - 1) : find(node - columnsOf(grid), resources - 1);
    case 'ArrowDown':
      return index < resources - 1 ? find(node, index + 1) : find(node + columnsOf(grid), 0);
    case 'Home':
      return find(0, 0);
    case 'End':
      return find((grid?.querySelectorAll('.tile').length ?? 1) - 1, resources - 1);
    default:
      return undefined;
  }
}

function columnsOf(grid: Element | null): number {
  const tiles = [...(grid?.querySelectorAll<HTMLElement>('.tile') ?? [])];
  const [first] = tiles;
  const below = tiles.findIndex(({ offsetTop }) => offsetTop > (first?.offsetTop ?? 0));
  return below < 0 ? tiles.length : below;
}
