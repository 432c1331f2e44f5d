import { describe, expect, it } from 'vitest';
import type { PlanPhase } from '../../../src/api/v1alpha1/rebalance-plan.ts';
import { awaitsSamples, SETTLE_LIMIT } from '../../../src/control/sample-freshness.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { PodInfo } from '../../../src/model/pod.ts';
import type { ClusterSnapshot, UsageSample } from '../../../src/model/snapshot.ts';
import { epochSeconds, seconds } from '../../../src/model/units.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aSample, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { fakeCluster } from '../../support/fake-cluster.ts';
import { NOON, testClock } from '../../support/test-clock.ts';

const web = aWorkload('web', { replicas: 3 });
const signal = new AbortController().signal;

/** Samples are taken over the 15 s before NOON + `span`. */
async function snapshotAt(span: number): Promise<ClusterSnapshot> {
  const clock = testClock();
  await clock.advance(span);
  return fakeCluster(
    clock,
    [aNode('a', TEN_CORES), aNode('b', TEN_CORES)],
    [web],
    [aPodOf(web, 'web-1', 'a')],
  ).reader.snapshot(signal);
}

/** A plan that has moved one pod. */
function ended(phase: PlanPhase, at = 0) {
  const pod = aPodOf(web, 'web-1', 'a');
  const finishedAt = formatInstant(epochSeconds(NOON + at));
  const moves = [{ podUID: pod.uid, phase: 'Landed' as const, attempt: 1 }];
  return aPlan(aPolicy('even'), [aMove(pod, 'b')], { phase, finishedAt, moves });
}

describe('awaitsSamples', () => {
  it('waits until every sample was begun after the last move ended', async () => {
    expect(await awaits(5)).toBe(
      'the last plan has ended: the next run waits for newer samples of 2 nodes, until 12:03 UTC at the latest',
    );
    expect(await awaits(15)).toContain('newer samples of 2 nodes');
    expect(await awaits(16)).toBeUndefined();
  });

  async function awaits(span: number) {
    return awaitsSamples(await snapshotAt(span), [ended('Completed')]);
  }

  it('waits for pods that were there before the end and have no sample', async () => {
    const snapshot = await snapshotAt(60);
    const usage = snapshot.usage === undefined ? undefined : { ...snapshot.usage, pods: new Map() };
    expect(awaitsSamples({ ...snapshot, usage }, [ended('Completed')])).toBe(
      'the last plan has ended: the next run waits for samples of 1 pod, until 12:03 UTC at the latest',
    );
  });

  it.each<[string, Partial<PodInfo>, boolean]>([
    ['was there a second before', { createdAt: epochSeconds(NOON) }, true],
    ['was made at the moment', { createdAt: epochSeconds(NOON + 1) }, true],
    ['was made a second after', { createdAt: epochSeconds(NOON + 2) }, false],
    ['is not Ready', { ready: false }, false],
    ['has the name of one in another namespace that has a sample', { namespace: 'elsewhere' }, true],
  ])('asks for a sample of a pod that %s the last plan ended', async (_, fields, isAwaited) => {
    const snapshot = await snapshotAt(60);
    const [sampled] = snapshot.pods;
    const pod: PodInfo = { ...aPodOf(web, 'web-2', 'a'), ...fields };
    const other = fields.namespace === undefined ? pod : { ...pod, name: sampled?.name ?? '' };
    const said = awaitsSamples({ ...snapshot, pods: [...snapshot.pods, other] }, [ended('Completed')]);
    expect(said?.includes('samples of 1 pod') ?? false).toBe(isAwaited);
  });

  it('names both what it waits for, and the longer wait', async () => {
    const snapshot = await snapshotAt(5);
    const { usage } = snapshot;
    const sample = (window: number, timestamp: number): UsageSample => ({
      ...aSample(0),
      window: seconds(window),
      timestamp: epochSeconds(NOON + timestamp),
    });
    const said = (...samples: readonly UsageSample[]) => {
      const nodes = new Map(samples.map((each, place) => [`node-${place}`, each]));
      return awaitsSamples({ ...snapshot, usage: usage && { nodes, pods: new Map() } }, [ended('Completed')]);
    };
    expect(said(sample(600, 5), sample(1, 2))).toBe(
      'the last plan has ended: the next run waits for newer samples of 1 node and samples of 1 pod, until 12:13 UTC at the latest',
    );
    expect(said(sample(1, 1))).toContain('newer samples of 1 node and');
    expect(said(sample(1, 2), sample(Number.NaN, 9))).toContain('waits for samples of 1 pod, until 12:03 UTC');
  });

  it('waits no longer than the limit', async () => {
    const snapshot = await snapshotAt(SETTLE_LIMIT + 2);
    const usage = snapshot.usage === undefined ? undefined : { ...snapshot.usage, pods: new Map() };
    expect(awaitsSamples({ ...snapshot, usage }, [ended('Completed')])).toBeUndefined();
  });

  it('waits for pods without a sample for two minutes after the second in which the move ended', async () => {
    const at = async (span: number) => {
      const snapshot = await snapshotAt(span);
      const usage = snapshot.usage === undefined ? undefined : { ...snapshot.usage, pods: new Map() };
      return awaitsSamples({ ...snapshot, usage }, [ended('Completed')]);
    };
    expect(await at(121)).toContain('samples of 1 pod');
    expect(await at(122)).toBeUndefined();
  });

  it.each([600, 3600].map(seconds))(
    'waits as long as samples span, as a range of %d s of Prometheus does',
    async (window) => {
      const spanning = async (span: number): Promise<ClusterSnapshot> => {
        const snapshot = await snapshotAt(span);
        const nodes = new Map(
          [...(snapshot.usage?.nodes ?? [])].map(([name, sample]) => [name, { ...sample, window }]),
        );
        return { ...snapshot, usage: { nodes, pods: snapshot.usage?.pods ?? new Map() } };
      };
      expect(awaitsSamples(await spanning(SETTLE_LIMIT + 2), [ended('Completed')])).toContain(
        'newer samples of 2 nodes',
      );
      expect(awaitsSamples(await spanning(window), [ended('Completed')])).toContain('newer samples of 2 nodes');
      expect(awaitsSamples(await spanning(window + 1), [ended('Completed')])).toBeUndefined();
    },
  );

  it('does not wait for a plan that was aborted before it moved anything', async () => {
    const { status, ...plan } = ended('Aborted');
    const moves = status?.moves?.map((run) => ({ ...run, phase: 'Aborted' as const })) ?? [];
    expect(awaitsSamples(await snapshotAt(5), [{ ...plan, status: { ...status, moves } }])).toBeUndefined();
  });

  it('looks at the plan that ended last, aborted ones too', async () => {
    const snapshot = await snapshotAt(60);
    expect(
      awaitsSamples(snapshot, [ended('Completed', 0), ended('Aborted', 50), ended('Completed', 10)]),
    ).toBeDefined();
  });

  it.each<[string, PlanPhase]>([
    ['proposed and gave way', 'Superseded'],
    ['never ended', 'Executing'],
  ])('does not wait for a plan that was %s: it moved nothing', async (_, phase) => {
    const plan = phase === 'Executing' ? aPlan(aPolicy('even'), []) : ended(phase);
    expect(awaitsSamples(await snapshotAt(1), [plan])).toBeUndefined();
  });

  it('does not wait without plans, or without a Metrics API', async () => {
    const snapshot = await snapshotAt(1);
    expect(awaitsSamples(snapshot, [])).toBeUndefined();
    expect(awaitsSamples({ ...snapshot, usage: undefined }, [ended('Completed')])).toBeUndefined();
  });
});
