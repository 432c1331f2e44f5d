import { describe, expect, it } from 'vitest';
import { startCron } from '../../../src/adapters/cron.ts';
import { foreignPods } from '../../../src/control/foreign-pods.ts';
import { createPolicyMemory } from '../../../src/control/policy-memory.ts';
import { EXCLUDED_NAMESPACES } from '../../../src/model/excluded-namespaces.ts';
import type { StoredPolicy } from '../../../src/ports.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { testClock } from '../../support/test-clock.ts';

const [web, api] = [aWorkload('web', { replicas: 3 }), aWorkload('api', { replicas: 3 })];
const pods = [aPodOf(web, 'web-1', 'a'), aPodOf(web, 'web-2', 'b'), aPodOf(api, 'api-1', 'a')];
const cluster = fakeCluster(testClock(), [aNode('a', TEN_CORES), aNode('b', TEN_CORES)], [web, api], pods);
const snapshot = await cluster.reader.snapshot(new AbortController().signal);

function stored(
  name: string,
  created: string,
  spec: Readonly<Record<string, unknown>> = {},
  invalid: readonly string[] = [],
): StoredPolicy {
  const policy = aPolicy(name, spec);
  return {
    policy: { ...policy, metadata: { ...policy.metadata, creationTimestamp: `2026-01-01T0${created}:00:00Z` } },
    invalid,
  };
}

function foreign(policy: StoredPolicy, ...others: readonly StoredPolicy[]) {
  return foreignPods(policy, [policy, ...others], snapshot, EXCLUDED_NAMESPACES);
}

const onlyWeb = { scope: { podSelector: { matchLabels: { app: 'web' } } } };

describe('foreignPods', () => {
  it('leaves pods in both scopes to the older policy, and only those', () => {
    const mine = stored('young', '2');
    const { uids, message } = foreign(mine, stored('old', '1', onlyWeb));
    expect([...uids]).toEqual(['uid-web-1', 'uid-web-2']);
    expect(message).toBe(
      'older policies own some of the pods in scope, and this policy leaves them alone: 2 pods of policy old. Narrow spec.scope of one of the policies',
    );
  });

  it('takes nothing from the older policy', () => {
    expect(foreign(stored('old', '1'), stored('young', '2'))).toEqual({ uids: new Set(), message: undefined });
  });

  it('goes by name when both are of the same age', () => {
    expect(foreign(stored('a', '1'), stored('b', '1')).uids.size).toBe(0);
    expect(foreign(stored('b', '1'), stored('a', '1')).uids.size).toBe(3);
  });

  it('counts a pod once when several older policies want it', () => {
    const { message } = foreign(stored('c', '3'), stored('a', '1', onlyWeb), stored('b', '2'));
    expect(message).toContain('2 pods of policy a, 1 pod of policy b.');
  });

  it.each<[string, StoredPolicy]>([
    ['suspended', stored('old', '1', { suspend: true })],
    ['invalid', stored('old', '1', {}, ['spec.mode: wrong'])],
    ['never due for a bad schedule', stored('old', '1', { schedule: '0 0 1 * 1' })],
    ['about other nodes', stored('old', '1', { scope: { nodeSelector: { matchLabels: { pool: 'gpu' } } } })],
  ])('ignores an older policy that is %s', (_, old) => {
    expect(foreign(stored('young', '2'), old)).toEqual({ uids: new Set(), message: undefined });
  });
});

describe('the memory of policies', () => {
  const policy = stored('even', '1');
  const edited: StoredPolicy = {
    ...policy,
    policy: { ...policy.policy, metadata: { ...policy.policy.metadata, generation: 2 } },
  };

  it('remembers a policy until it is edited', () => {
    const memory = createPolicyMemory(() => undefined, { clock: testClock(), startCron });
    memory.of(policy).overlap = 'some';
    expect(memory.of(policy).overlap).toBe('some');
    expect(memory.of(edited).overlap).toBeUndefined();
  });

  it('forgets policies that are gone, and keeps the others', () => {
    const memory = createPolicyMemory(() => undefined, { clock: testClock(), startCron });
    memory.of(policy).overlap = 'some';
    memory.of(stored('other', '2')).overlap = 'other';
    memory.keepOnly([policy]);
    expect(memory.of(policy).overlap).toBe('some');
    expect(memory.of(stored('other', '2')).overlap).toBeUndefined();
    memory.clear();
    expect(memory.of(policy).overlap).toBeUndefined();
    memory.clear();
  });
});
