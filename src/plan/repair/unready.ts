import type { RepairName } from '../../api/v1alpha1/repair.ts';
import type { RepairOptions } from '../options.ts';

/**
 * Whether a repair moves pods that are not Ready, too: those that fail again and again, and those whose lifetime counts in certain
 * states, which are mostly states of pods that do not serve.
 */
export function movesUnready(name: RepairName, { maxLifetime }: Partial<RepairOptions>): boolean {
  return name === 'Restarts' || (name === 'MaxLifetime' && maxLifetime?.states !== undefined);
}
