import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { PageResource } from '../report/page/state.ts';
import { NodeButton } from './controls.tsx';
import { count, percent } from './format.ts';
import { type GroupLoads, groupLoads, type NodeGroup } from './groups.ts';
import { heatOf, type Phase, RESOURCE_NAMES } from './model.ts';

interface NodeGroupsProps {
  readonly groups: readonly NodeGroup[];
  /** What nodes without a group lack: `zone` or `pool`. */
  readonly by: string;
  readonly phase: Phase;
  readonly resource: PageResource;
  readonly onOpen: (node: string) => void;
  /** The nodes of a group that is open. */
  readonly children: (group: NodeGroup) => ComponentChildren;
}

/** A line for each group with the loads of its nodes; its nodes are drawn while it is open. */
export function NodeGroups({ groups, by, phase, resource, onOpen, children }: NodeGroupsProps): JSX.Element {
  const [open, setOpen] = useState<ReadonlySet<string | undefined>>(new Set());
  const toggle = (name: string | undefined): void =>
    setOpen(open.has(name) ? new Set([...open].filter((each) => each !== name)) : new Set([...open, name]));
  return (
    <ul class="groups">
      {groups.map((group) => {
        const { name, nodes } = group;
        const isOpen = open.has(name);
        const loads = groupLoads(nodes, phase, resource);
        return (
          <li key={name ?? ''} class="node-group">
            <div class="group-line">
              <h3>
                <button type="button" class="group-name" aria-expanded={isOpen} onClick={() => toggle(name)}>
                  <svg class="chevron" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
                    <path d="M3 1l4 4l-4 4" />
                  </svg>
                  <span>{name ?? `no ${by}`}</span>
                  <span class="quiet">{count(nodes.length, 'node')}</span>
                </button>
              </h3>
              {loads === undefined ? (
                <p class="quiet">{RESOURCE_NAMES[resource]} not known</p>
              ) : (
                <GroupFigures loads={loads} resource={resource} onOpen={onOpen} />
              )}
            </div>
            {isOpen && <div class="group-nodes">{children(group)}</div>}
          </li>
        );
      })}
    </ul>
  );
}

interface GroupFiguresProps {
  readonly loads: GroupLoads;
  readonly resource: PageResource;
  readonly onOpen: (node: string) => void;
}

function GroupFigures({ loads, resource, onOpen }: GroupFiguresProps): JSX.Element {
  const { mean, least, most, highest } = loads;
  return (
    <>
      <Profile loads={loads} resource={resource} />
      <p class="group-figures">
        <span>
          <span class="quiet">mean</span> {percent(mean, 0)}
        </span>
        <span>
          <span class="quiet">spread</span> {percent(most - least, 0)}
        </span>
        <span>
          <span class="quiet">highest</span> {percent(most, 0)} <NodeButton name={highest} onOpen={onOpen} />
        </span>
      </p>
    </>
  );
}

/** A bar for each node, the highest load first. */
function Profile({ loads: { loads, least, most, mean }, resource }: Omit<GroupFiguresProps, 'onOpen'>): JSX.Element {
  const top = Math.max(1, most);
  const bars = Map.groupBy(
    loads.map((load, place) => ({
      load,
      path: `M${place} 1H${place + 0.86}V${(1 - load / top).toFixed(3)}H${place}z`,
    })),
    ({ load }) => heatOf(load),
  );
  const said = `${RESOURCE_NAMES[resource]} from ${percent(least, 0)} to ${percent(most, 0)}, mean ${percent(mean, 0)}`;
  return (
    <svg class="profile" viewBox={`0 0 ${loads.length} 1`} preserveAspectRatio="none" role="img" aria-label={said}>
      {[...bars].map(([heat, drawn]) => (
        <path key={heat} class={`heat-${heat}`} d={drawn.map(({ path }) => path).join('')} />
      ))}
    </svg>
  );
}
