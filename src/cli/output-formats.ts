import { nearest } from '../api/nearest.ts';
import { Failure } from '../app/failure.ts';

/** Formats of `evenkeel plan -o`. */
export const PLAN_OUTPUTS = ['table', 'wide', 'json', 'yaml', 'markdown', 'name', 'junit', 'sarif'] as const;
/** A format of `evenkeel plan -o`. */
export type PlanOutput = (typeof PLAN_OUTPUTS)[number];

/** Formats of `evenkeel diff -o`. */
export const DIFF_OUTPUTS = ['table', 'json', 'markdown'] as const;
/** A format of `evenkeel diff -o`. */
export type DiffOutput = (typeof DIFF_OUTPUTS)[number];

/** Formats of `evenkeel explain -o` and `evenkeel top -o`. */
export const VIEW_OUTPUTS = ['table', 'wide', 'json', 'yaml'] as const;
/** A format of `evenkeel explain -o` and `evenkeel top -o`. */
export type ViewOutput = (typeof VIEW_OUTPUTS)[number];

/** Formats of `evenkeel history -o`. */
export const HISTORY_OUTPUTS = ['table', 'wide', 'json', 'yaml', 'name'] as const;
/** A format of `evenkeel history -o`. */
export type HistoryOutput = (typeof HISTORY_OUTPUTS)[number];

/** Formats of `evenkeel lint -o`. */
export const LINT_OUTPUTS = ['table', 'json', 'sarif', 'junit'] as const;
/** A format of `evenkeel lint -o`. */
export type LintOutput = (typeof LINT_OUTPUTS)[number];

/** Formats of `evenkeel simulate -o`. */
export const SIMULATION_OUTPUTS = ['table', 'json', 'markdown', 'html'] as const;
/** A format of `evenkeel simulate -o`. */
export type SimulationOutput = (typeof SIMULATION_OUTPUTS)[number];

/** The format of this name. Throws a Failure that lists the formats. */
export function parseOutput<Format extends string>(text: string, formats: readonly Format[]): Format {
  const known = formats.find((format) => format === text);
  if (known === undefined) {
    const meant = nearest(text, formats);
    const hint = meant === undefined ? '' : `; ${meant}?`;
    throw new Failure(`-o ${text} is not a format: write one of ${formats.join(', ')}${hint}`);
  }
  return known;
}

/** Formats of `evenkeel import`. */
export const IMPORT_OUTPUTS = ['yaml', 'json'] as const;
/** A format of `evenkeel import`. */
export type ImportOutput = (typeof IMPORT_OUTPUTS)[number];
