import type { ImportNote } from '../note.ts';
import type { EnabledPlugin } from './document.ts';

/** What a plugin becomes. Without `repair` and `strategy` nothing does its work, and a note says so. */
export interface Part {
  /** Fields of spec.repair. */
  readonly repair?: Readonly<Record<string, unknown>>;
  /** Fields of spec: the strategy, and what it needs. */
  readonly strategy?: Readonly<Record<string, unknown>>;
  /** Evictions from one node. */
  readonly perNode?: number;
  /** Empties whole nodes, for which the default budget is too small. */
  readonly packs?: true;
  readonly notes: readonly ImportNote[];
}

/** Converts the arguments of a plugin. Throws MalformedField for what the descheduler would refuse as well. */
export type ConvertPlugin = (plugin: Pick<EnabledPlugin, 'args' | 'argsPath' | 'path'>) => Part;
