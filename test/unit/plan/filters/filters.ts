import { plainSubject, type Subject } from '../../../../src/plan/filters/refusal.ts';
import { constraints } from '../../../support/builders.ts';

/** What a filter sees of a pod with these constraints. */
export function aSubject(fields: Parameters<typeof constraints>[0] = {}, pinnedNode?: string): Subject {
  return plainSubject(constraints(fields), pinnedNode);
}
