import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { PAGE_RESOURCES, type PageResource, type PageState, type PolicyRow } from '../report/page/state.ts';
import { NodeButton, Segmented, TableBox, useMore } from './controls.tsx';
import { percent } from './format.ts';
import { firstGrouping, GROUPING_NAMES, type Grouping, groupingsOf, groupNodes } from './groups.ts';
import { HeatMap } from './heat-map.tsx';
import { loadIn, type MapNode, PHASE_NAMES, PHASES, type Phase, RESOURCE_NAMES } from './model.ts';
import { NodeGroups } from './node-groups.tsx';

interface NodesProps {
  readonly state: PageState;
  readonly policy: PolicyRow | undefined;
  readonly onOpen: (node: string) => void;
}

/** Above that many nodes one resource is shown at first. */
const MANY = 200;

type Choice = PageResource | 'all';

/** Every node, as a map or as a table; many nodes by zone or pool. */
export function Nodes({ state, policy, onOpen }: NodesProps): JSX.Element {
  const [phase, setPhase] = useState<Phase>('now');
  const [view, setView] = useState<'map' | 'table'>('map');
  const [order, setOrder] = useState<'name' | 'load'>('name');
  const isLarge = Object.keys(state.nodes).length > MANY;
  const [grouping, setGrouping] = useState<Grouping | undefined>(undefined);
  const [chosen, setChosen] = useState<Choice | undefined>(undefined);
  const first = PAGE_RESOURCES.find((resource) => policy?.weights[resource] !== undefined) ?? 'cpu';
  const choice = chosen ?? (isLarge ? first : 'all');
  const resources = choice === 'all' ? PAGE_RESOURCES : [choice];
  const sortBy = resources.includes(first) ? first : (resources[0] ?? first);
  const shifts = policy?.plan?.shifts;
  const nodes = useMemo(
    () => sorted(state.nodes, shifts ?? {}, order, phase, sortBy),
    [state.nodes, shifts, order, phase, sortBy],
  );
  const groupings = groupingsOf(nodes);
  const by = grouping !== undefined && groupings.includes(grouping) ? grouping : firstGrouping(nodes);
  const draw = (drawn: readonly MapNode[], group?: string): JSX.Element =>
    view === 'map' ? (
      <HeatMap group={group} nodes={drawn} resources={resources} phase={phase} onOpen={onOpen} />
    ) : (
      <NodeTable group={group} nodes={drawn} resources={resources} onOpen={onOpen} />
    );
  return (
    <section class="panel" aria-labelledby="nodes-title">
      <div class="panel-head">
        <h2 id="nodes-title">Load by node</h2>
        {state.basis === 'Requests' && <p class="notice">The cluster has no metrics: loads are what pods request.</p>}
        <div class="controls">
          <Segmented legend="Show" value={phase} onChange={setPhase} options={named(PHASES, PHASE_NAMES)} />
          <Segmented<Choice>
            legend="Resource"
            value={choice}
            onChange={setChosen}
            options={[['all', 'All'], ...named(PAGE_RESOURCES, RESOURCE_NAMES)]}
          />
          {groupings.length > 1 && (
            <Segmented legend="Group" value={by} onChange={setGrouping} options={named(groupings, GROUPING_NAMES)} />
          )}
          <Segmented legend="Order" value={order} onChange={setOrder} options={ORDERS} />
          <Segmented legend="As" value={view} onChange={setView} options={VIEWS} />
        </div>
      </div>
      {by === 'none' ? (
        draw(nodes)
      ) : (
        <NodeGroups key={by} groups={groupNodes(nodes, by)} by={by} phase={phase} resource={sortBy} onOpen={onOpen}>
          {(group) => draw(group.nodes, group.name)}
        </NodeGroups>
      )}
      {view === 'map' && <Legend resources={resources} />}
    </section>
  );
}

const ORDERS = [
  ['name', 'By name'],
  ['load', 'By load'],
] as const;
const VIEWS = [
  ['map', 'Map'],
  ['table', 'Table'],
] as const;

function named<Value extends string>(
  values: readonly Value[],
  names: Readonly<Record<Value, string>>,
): readonly (readonly [Value, string])[] {
  return values.map((value) => [value, names[value]]);
}

function sorted(
  rows: PageState['nodes'],
  shifts: NonNullable<PolicyRow['plan']>['shifts'],
  order: 'name' | 'load',
  phase: Phase,
  resource: PageResource,
): readonly MapNode[] {
  const nodes = Object.entries(rows).map(([name, row]) => ({ name, row, shift: shifts[name] }));
  const load = ({ row, shift }: MapNode): number => loadIn(phase, resource, row, shift) ?? -1;
  return order === 'name'
    ? nodes.sort((left, right) => left.name.localeCompare(right.name, 'en', { numeric: true }))
    : nodes.sort((left, right) => load(right) - load(left));
}

function Legend({ resources }: { resources: readonly PageResource[] }): JSX.Element {
  return (
    <div class="legend">
      <span class="quiet">
        Percent of allocatable {resources.map((resource) => RESOURCE_NAMES[resource]).join(', ')}
        {resources.length > 1 ? ', from top to bottom' : ''}
      </span>
      <span class="scale" aria-hidden="true">
        {[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((step) => (
          <span key={step} class={`cell heat-${step}`}>
            {step * 10}
          </span>
        ))}
        <span class="cell heat-10">&gt;100</span>
      </span>
      <span class="quiet legend-moved">
        <span class="cell heat-0 moved" aria-hidden="true" /> changed by the plan
      </span>
    </div>
  );
}

function NodeTable({ group, nodes, resources, onOpen }: Pick<NodesProps, 'onOpen'> & NodeTableProps): JSX.Element {
  const [shown, more] = useMore(nodes, 100);
  return (
    <>
      <TableBox label={group === undefined ? 'Nodes with their loads' : `Nodes of ${group} with their loads`}>
        <table>
          <thead>
            <tr>
              <th scope="col" rowSpan={2}>
                Node
              </th>
              <th scope="col" rowSpan={2}>
                Status
              </th>
              <th scope="col" rowSpan={2} class="number">
                Pods
              </th>
              {resources.map((resource) => (
                <th key={resource} scope="colgroup" colSpan={3} class="group">
                  {RESOURCE_NAMES[resource]}
                </th>
              ))}
            </tr>
            <tr>
              {resources.flatMap((resource) =>
                PHASES.map((phase) => (
                  <th key={`${resource} ${phase}`} scope="col" class="number">
                    {PHASE_NAMES[phase]}
                  </th>
                )),
              )}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, row, shift }) => (
              <tr key={name}>
                <th scope="row">
                  <NodeButton name={name} onOpen={onOpen} />
                </th>
                <td>{row.status}</td>
                <td class="number">{row.pods}</td>
                {resources.flatMap((resource) =>
                  PHASES.map((phase) => {
                    const load = loadIn(phase, resource, row, shift);
                    return (
                      <td key={`${resource} ${phase}`} class="number">
                        {load === undefined ? '–' : percent(load)}
                      </td>
                    );
                  }),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </TableBox>
      {more}
    </>
  );
}

interface NodeTableProps {
  readonly group: string | undefined;
  readonly nodes: readonly MapNode[];
  readonly resources: readonly PageResource[];
}
