import { describe, expect, it } from 'vitest';
import { ConflictError } from '../../../src/ports.ts';
import { createPolicyObjects } from '../../../src/simulate/api-server/policies.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const web = aWorkload('web', { replicas: 2 });
const db = aWorkload('db', { kind: 'StatefulSet', replicas: 1 });

function aCluster() {
  const clock = testClock();
  const pods = [aPodOf(web, 'web-1', 'a'), aPodOf(web, 'web-2', 'a'), aPodOf(db, 'db-0', 'a')];
  const cluster = fakeCluster(clock, [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web, db], pods);
  const names = () => [...cluster.pods.values()].map(({ name }) => name).sort();
  return { clock, cluster, names };
}

describe('policies of the modelled API server', () => {
  it('count their edits, keep their status, and say what is wrong with them', async () => {
    const { store, stored, apply } = createPolicyObjects(() => NOON, []);
    apply('even', { mode: 'DryRun' });
    const [first] = await store.list(forever);
    await store.writeStatus(first?.policy ?? never(), { hitRatio: '1' }, forever);
    apply('even', { mode: 'Sometimes' });
    expect(stored.get('even')?.policy.metadata.generation).toBe(2);
    expect(stored.get('even')?.policy.status).toEqual({ hitRatio: '1' });
    expect(stored.get('even')?.invalid.join()).toContain('mode');
  });

  it('are others when they are made anew', async () => {
    const { store, stored, apply, remove } = createPolicyObjects(() => NOON, []);
    apply('even', {});
    const first = stored.get('even')?.policy ?? never();
    remove('even');
    apply('even', {});
    expect(stored.get('even')?.policy.metadata.generation).toBe(1);
    await expect(store.writeStatus(first, {}, forever)).rejects.toThrow(ConflictError);
  });

  it('ring whoever watches, with each change', async () => {
    const { store, apply, remove } = createPolicyObjects(() => NOON, []);
    const stop = new AbortController();
    let rings = 0;
    const watching = store.watch(() => {
      rings += 1;
    }, stop.signal);
    apply('even', {});
    remove('even');
    stop.abort();
    await watching;
    apply('even', {});
    expect(rings).toBe(2);
  });
});

describe('controllers of the modelled cluster', () => {
  it('take their time to make a pod again, those of a StatefulSet once the old one is gone', async () => {
    const { clock, cluster, names } = aCluster();
    cluster.delays.grace = 3;
    cluster.delays.recreate = 2;
    cluster.remove('uid-web-1');
    cluster.remove('uid-db-0');
    await clock.advance(1.9);
    expect(names()).toEqual(['db-0', 'web-1', 'web-2']);
    await clock.advance(0.1);
    expect(names()).toEqual(['db-0', 'web-00001', 'web-1', 'web-2']);
    await clock.advance(1);
    expect(names()).toEqual(['web-00001', 'web-2']);
    await clock.advance(2);
    expect(names()).toEqual(['db-0', 'web-00001', 'web-2']);
  });

  it('make pods more, or take some away, when somebody scales, and say so', async () => {
    const { clock, cluster, names } = aCluster();
    cluster.scale(web.uid, 3);
    expect(names()).toEqual(['db-0', 'web-00001', 'web-1', 'web-2']);
    cluster.scale(web.uid, 1);
    await clock.advance(10);
    expect(names()).toEqual(['db-0', 'web-1']);
    expect(cluster.workloads.get(web.uid)?.replicas).toBe(1);
  });
});

describe('the modelled eviction API', () => {
  it('refuses what a budget does not allow, as the API server words it', async () => {
    const { cluster } = aCluster();
    cluster.minAvailable.set(web.uid, 2);
    const pod = { namespace: 'shop', name: 'web-1', uid: 'uid-web-1' };
    const message = 'The disruption budget keep-web needs 2 healthy pods and has 2 currently';
    expect(await cluster.evictor.evict(pod, { dryRun: false }, forever)).toEqual({ kind: 'RefusedByBudget', message });
    cluster.minAvailable.set(web.uid, 1);
    expect(await cluster.evictor.evict(pod, { dryRun: true }, forever)).toEqual({ kind: 'Accepted' });
    expect(cluster.accepted).toEqual([]);
  });

  it('lets a pod go that is not Ready while its budget has what it needs, and not when it has less', async () => {
    const { cluster } = aCluster();
    const unready = { ...aPodOf(web, 'web-1', 'a'), ready: false };
    cluster.putPod(unready);
    cluster.minAvailable.set(web.uid, 1);
    expect((await cluster.evictor.evict(unready, { dryRun: true }, forever)).kind).toBe('Accepted');
    cluster.minAvailable.set(web.uid, 2);
    expect((await cluster.evictor.evict(unready, { dryRun: true }, forever)).kind).toBe('RefusedByBudget');
  });
});

function never(): never {
  throw new Error('it is not there');
}
