import { describe, expect, it } from 'vitest';
import { type Checked, type CheckInput, cachedCheck, liveCheck } from '../../../src/execute/live-check.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { ClusterSnapshot } from '../../../src/model/snapshot.ts';
import { NO_STORAGE } from '../../../src/model/storage.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import { aMove } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { anAffinityTerm } from '../../support/builders/scheduling.ts';
import { aClaim, aVolume } from '../../support/builders/storage.ts';
import { aNode, aPod, labels, TEN_CORES } from '../../support/builders.ts';
import { aWorld, forever, PODS, policy, WEB_1, WEB_2 } from '../../support/execution.ts';
import type { World } from '../../support/fake-world.ts';
import { NOON } from '../../support/test-clock.ts';

/** Web-1 is to move from a to b. */
const INPUT: CheckInput = {
  move: aMove(WEB_1, 'b'),
  plannedAt: epochSeconds(NOON - 60),
  options: resolveOptions(policy.spec),
  inFlight: [],
};

/** What is said of moving web-1 from a to b, or of what `changes` say, in a world whose caches have these fields besides. */
async function checked(
  w: World,
  changes: Partial<CheckInput> = {},
  cached: Partial<ClusterSnapshot> = {},
): Promise<Checked> {
  const input = { ...INPUT, ...changes };
  const { reader } = w.ports;
  const placements = async (signal: AbortSignal) => ({ ...(await reader.placements(signal)), ...cached });
  const ports = { ...w.ports, reader: { ...reader, placements } };
  const snapshot = await placements(forever);
  const live = await liveCheck(input, ports, forever);
  expect(await cachedCheck(input, snapshot, ports, forever)).toMatchObject(
    live.kind === 'Clear' ? { kind: 'Clear', siblings: live.siblings } : live,
  );
  return live;
}

function skipped(why: string): Checked {
  return { kind: 'Skip', why };
}

describe('the time of the API server after a check', () => {
  it('goes on with our monotonic clock from what the server said', async () => {
    const w = aWorld();
    await w.clock.advance(100);
    const results = [
      await liveCheck(INPUT, w.ports, forever),
      await cachedCheck(INPUT, await w.ports.reader.placements(forever), w.ports, forever),
    ];
    const said = () => results.map((result) => (result.kind === 'Clear' ? result.serverTime() : undefined));
    const { serverTime } = await w.ports.reader.pod(WEB_1, forever);
    expect(said()).toEqual([serverTime, serverTime]);
    await w.clock.advance(7);
    expect(said()).toEqual([serverTime + 7, serverTime + 7]);
  });
});

describe('the scope of the policy right before a move', () => {
  const east = { ...TEN_CORES, labels: { pool: 'east' } };
  const eastern = resolveOptions(aPolicy('even', { scope: { nodeSelector: { matchLabels: { pool: 'east' } } } }).spec);
  const shops = resolveOptions(
    aPolicy('even', { scope: { namespaceSelector: { matchLabels: { team: 'shop' } } } }).spec,
  );

  it.each([
    [['a', 'b'], undefined],
    [['a'], 'b is outside scope.nodeSelector'],
    [['b'], 'scope.nodeSelector does not select its node'],
  ])('holds for the nodes at both ends: with %j selected', async (selected, why) => {
    const w = aWorld();
    for (const name of selected) {
      w.cluster.putNode(aNode(name, east));
    }
    const expected = why === undefined ? { kind: 'Clear' } : skipped(why);
    expect(await checked(w, { options: eastern })).toMatchObject(expected);
  });

  it('holds for the labels of the namespace', async () => {
    const w = aWorld();
    w.cluster.namespaces.set('shop', { labels: labels({ team: 'shop' }), terminating: false });
    expect(await checked(w, { options: shops })).toMatchObject({ kind: 'Clear' });
    w.cluster.namespaces.set('shop', { labels: labels({ team: 'other' }), terminating: false });
    expect(await checked(w, { options: shops })).toEqual(
      skipped('scope.namespaceSelector does not select its namespace'),
    );
  });

  it('ends when the namespace is being deleted', async () => {
    const w = aWorld();
    w.cluster.namespaces.set('shop', { labels: labels(), terminating: true });
    expect(await liveCheck(INPUT, w.ports, forever)).toEqual(skipped('its namespace shop is being deleted'));
  });
});

describe('the storage of a pod right before its move', () => {
  const claims = [{ name: 'data', template: undefined }];
  const world = () => aWorld([{ ...WEB_1, claims }, ...PODS.slice(1)]);

  it('keeps it when its claim is of the one class that is protected', async () => {
    const { protections, ...options } = resolveOptions(policy.spec);
    const protecting = (name: string) => ({
      options: { ...options, protections: { ...protections, protectedStorageClasses: new Set([name]) } },
    });
    const fast = aClaim('data', { storageClass: 'fast', bound: true, volumeName: 'v' });
    const storage = {
      ...NO_STORAGE,
      claims: new Map([['shop/data', fast]]),
      volumes: new Map([['v', aVolume('v', { storageClass: 'fast' })]]),
    };
    expect(await checked(world(), protecting('fast'), { storage })).toMatchObject({ kind: 'Skip' });
    expect(await checked(world(), protecting('slow'), { storage })).toMatchObject({ kind: 'Clear' });
  });

  it.each([
    ['b', { kind: 'Clear' }],
    ['c', { kind: 'Skip', why: expect.stringMatching(/^b .*(volume|claim)/) }],
  ])('keeps it from a node that does not reach its only volume, which is on %s', async (name, expected) => {
    const field = { key: 'metadata.name', operator: 'In', values: [name] } as const;
    const volume = aVolume('v', { nodeAffinity: [{ expressions: [], fields: [field] }] });
    const storage = {
      ...NO_STORAGE,
      claims: new Map([['shop/data', aClaim('data', { bound: true, volumeName: 'v' })]]),
      volumes: new Map([['v', volume]]),
    };
    expect(await checked(world(), {}, { storage })).toMatchObject(expected);
  });
});

describe('the pods that have a say about the target of a move', () => {
  const others = PODS.slice(1);
  const nominee = (nominatedNode: string): PodInfo =>
    aPod('nominee', {
      phase: 'Pending',
      ready: false,
      nominatedNode,
      priority: WEB_1.priority + 1,
      constraints: { requests: { cpu: 10_000 } },
    });

  it.each([
    ['b', { kind: 'Skip', why: expect.stringMatching(/^b has .* cpu free/) }],
    ['c', { kind: 'Clear' }],
  ])('include one that the scheduler keeps room for: on %s', async (node, expected) => {
    expect(await checked(aWorld(), {}, { pods: [...PODS, nominee(node)] })).toMatchObject(expected);
    expect(await checked(aWorld(), {}, { pods: [nominee(node)] })).toMatchObject(expected);
  });

  it('include one there that keeps away from it, even if the pod itself has no terms', async () => {
    const away = anAffinityTerm({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' });
    const moved = { ...WEB_1, labels: labels({ app: 'web' }) };
    const on = (name: string) => {
      const shy = { ...aPod('shy', { constraints: { podAntiAffinity: [away] } }), nodeName: name };
      return checked(aWorld([moved, ...others, shy]));
    };
    expect(await on('b')).toMatchObject({ kind: 'Skip', why: expect.stringContaining('anti-affinity') });
    expect(await on('c')).toMatchObject({ kind: 'Clear' });
  });

  it('are those of this moment: where a sibling was by the caches, and is no more, nothing keeps it away', async () => {
    const away = anAffinityTerm({ app: 'web' }, { topologyKey: 'kubernetes.io/hostname' });
    const tied = (pod: PodInfo): PodInfo => ({
      ...pod,
      labels: labels({ app: 'web' }),
      constraints: { ...pod.constraints, podAntiAffinity: [away] },
    });
    const w = aWorld([tied(WEB_1), { ...tied(WEB_2), nodeName: 'd' }, ...others.slice(1)]);
    const { pods, ...snapshot } = await w.ports.reader.placements(forever);
    const stale = pods.map((pod) => (pod.uid === WEB_2.uid ? { ...pod, nodeName: 'b' } : pod));
    const placements = async () => ({ ...snapshot, pods: stale });
    const ports = { ...w.ports, reader: { ...w.ports.reader, placements } };
    expect(await liveCheck(INPUT, ports, forever)).toMatchObject({ kind: 'Clear' });
    expect(await cachedCheck(INPUT, await placements(), ports, forever)).toMatchObject({ kind: 'Skip' });
  });
});
