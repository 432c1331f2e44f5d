import { describe, expect, it } from 'vitest';
import { freshPlacements } from '../../../src/execute/fresh-placements.ts';
import { StaleCacheError } from '../../../src/ports.ts';
import { aSnapshot } from '../../support/builders.ts';
import { forever } from '../../support/execution.ts';

describe('what the caches have of the cluster', () => {
  it('is taken as it is', async () => {
    const snapshot = aSnapshot();
    expect(await freshPlacements({ placements: async () => snapshot }, forever)).toBe(snapshot);
  });

  it('is nothing while they are behind', async () => {
    const placements = () => Promise.reject(new StaleCacheError('pods not listed yet'));
    expect(await freshPlacements({ placements }, forever)).toBeUndefined();
  });

  it('cannot be told when reading fails otherwise', async () => {
    const error = new Error('the server is down');
    await expect(freshPlacements({ placements: () => Promise.reject(error) }, forever)).rejects.toBe(error);
  });
});
