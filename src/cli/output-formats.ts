import { Failure } from './failure.ts';

/** Formats of -o. */
export const OUTPUTS = ['table', 'wide', 'json', 'yaml', 'markdown', 'name'] as const;
/** A format of -o. */
export type Output = (typeof OUTPUTS)[number];

/** Formats of `evenkeel simulate -o`. */
export const SIMULATION_OUTPUTS = ['table', 'json', 'markdown', 'html'] as const;
/** A format of `evenkeel simulate -o`. */
export type SimulationOutput = (typeof SIMULATION_OUTPUTS)[number];

/** The format that -o names. Throws a Failure that lists the formats. */
export function parseOutput(text: string): Output {
  const known = OUTPUTS.find((output) => output === text);
  if (known === undefined) {
    throw new Failure(`-o ${text} is not a format: write one of ${OUTPUTS.join(', ')}`);
  }
  return known;
}
