import { createContext, type JSX } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import { FULL_NAMES, type ShortNames, shortNames } from '../model/short-names.ts';
import type { PageState } from '../report/page/state.ts';

/** Shortens names of nodes wherever the page shows them: without the domain that all of them have in common. */
export const NodeNames = createContext<ShortNames>(FULL_NAMES);

/** The short names of these nodes: the same function until a node comes or goes. */
export function useShortNames(nodes: PageState['nodes']): ShortNames {
  const all = Object.keys(nodes).join(' ');
  return useMemo(() => shortNames(all.split(' ')), [all]);
}

/** The short names of the page. */
export function useNames(): ShortNames {
  return useContext(NodeNames);
}

const NO_BREAK_SPACE = '\u00a0';
const WORD_JOINER = '\u2060';

/** What the operator or the planner says, with short names, and no end of a line within `13 %` or `->`. */
export function useText(): (text: string) => string {
  const names = useNames();
  return (text) => names(text).replaceAll(' %', `${NO_BREAK_SPACE}%`).replaceAll('->', `-${WORD_JOINER}>`);
}

/** The short name of a node, with the full one as its tooltip. */
export function NodeName({ name }: { readonly name: string }): JSX.Element {
  return <span title={name}>{useNames()(name)}</span>;
}
