import { type ContestRules, PUBLISHED } from './rules.ts';

/** Our refinement. */
export const STANDARD: ContestRules = PUBLISHED;
