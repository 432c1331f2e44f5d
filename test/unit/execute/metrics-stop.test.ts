import { describe, expect, it } from 'vitest';
import { metricsVerdict } from '../../../src/execute/metrics-stop.ts';
import { formatInstant } from '../../../src/model/instant.ts';
import type { UsageSample } from '../../../src/model/snapshot.ts';
import { bytes, epochSeconds, milliCpu, seconds } from '../../../src/model/units.ts';
import { resolveOptions } from '../../../src/plan/resolve-options.ts';
import type { NodeUsage } from '../../../src/ports.ts';
import { aMove, aPlan } from '../../support/builders/plan.ts';
import { aPolicy } from '../../support/builders/policy.ts';
import { aNode, aPodOf, aWorkload, TEN_CORES } from '../../support/builders.ts';
import { NOON } from '../../support/test-clock.ts';

const NODES = ['a', 'b', 'c', 'd'].map((name) => aNode(name, TEN_CORES));
const options = resolveOptions(aPolicy('even', { load: { maxAge: '60s', minCoverage: '0.5' } }).spec);
const fresh: UsageSample = {
  cpu: milliCpu(100),
  memory: bytes(1),
  timestamp: epochSeconds(NOON - 5),
  window: seconds(15),
};
const stale: UsageSample = { ...fresh, timestamp: epochSeconds(NOON - 61) };

/** Made a minute before noon; its last move begun `begunAgo` seconds before noon. */
function planBegun(begunAgo: number) {
  const pod = aPodOf(aWorkload('web', { replicas: 3 }), 'web-1', 'a');
  const startedAt = formatInstant(epochSeconds(NOON - begunAgo));
  return aPlan(aPolicy('even'), [aMove(pod, 'b')], {
    moves: [{ podUID: pod.uid, phase: 'Landed', attempt: 0, startedAt }],
  });
}

function usageOf(...samples: readonly UsageSample[]): NodeUsage {
  const entries = samples.map((sample, index) => [NODES[index]?.name ?? '', sample] as const);
  return { nodes: new Map(entries), serverTime: NOON };
}

const verdictOn = (usage: NodeUsage | undefined, nodes = NODES, begunAgo = 30) =>
  metricsVerdict(planBegun(begunAgo), options, nodes, usage, NOON);

describe('metricsVerdict', () => {
  it('lets a plan go on while enough samples count', () => {
    expect(verdictOn(usageOf(fresh, fresh, stale, stale))).toEqual({ kind: 'Fresh' });
  });

  it.each<[string, Partial<UsageSample>]>([
    ['stale', { timestamp: stale.timestamp }],
    ['not a number', { cpu: milliCpu(Number.NaN) }],
    ['negative', { memory: bytes(-1) }],
    ['from the future', { timestamp: epochSeconds(NOON + 3_600) }],
  ])('stops a plan whose samples are %s', (_, changes) => {
    const bad = { ...fresh, ...changes };
    expect(verdictOn(usageOf(fresh, bad, bad, bad))).toEqual({
      kind: 'Stale',
      stop: {
        reason: 'MetricsIncomplete',
        message: 'metrics went stale: 1 of 4 nodes have a valid sample (25.00 %), load.minCoverage is 50.00 %',
        stops: 'Disruptions',
      },
    });
  });

  it('takes a node without a sample for an idle one', () => {
    expect(verdictOn(usageOf(fresh))).toEqual({ kind: 'Fresh' });
  });

  it.each([
    ['are not Ready', { ready: false }],
    ['are cordoned', { unschedulable: true }],
    ['are out of scope', { labels: { pool: 'other' } }],
  ])('does not judge nodes that %s', (_, fields) => {
    const inPool = { scope: { nodeSelector: { matchLabels: { pool: 'web' } } } };
    const { scope } = resolveOptions(aPolicy('even', inPool).spec);
    const nodes = NODES.map(({ name }, index) =>
      aNode(name, { ...TEN_CORES, labels: { pool: 'web' }, ...(index === 0 ? {} : fields) }),
    );
    const usage = usageOf(fresh, stale, stale, stale);
    expect(metricsVerdict(planBegun(30), { ...options, scope }, nodes, usage, NOON)).toEqual({ kind: 'Fresh' });
  });

  it('is patient without any sample until those that the last move began with are too old', () => {
    expect(verdictOn(undefined, NODES, 30)).toEqual({ kind: 'Unknown' });
    expect(verdictOn(usageOf(), NODES, 30)).toEqual({ kind: 'Unknown' });
    expect(verdictOn(undefined, NODES, 61)).toMatchObject({ kind: 'Unknown' });
    const late = metricsVerdict(planBegun(200), options, NODES, undefined, epochSeconds(NOON + 1));
    expect(late).toMatchObject({ kind: 'Stale', stop: { reason: 'MetricsUnavailable' } });
  });

  it('asks nothing of a policy that plans by requests', () => {
    const byRequests = resolveOptions(aPolicy('even', { load: { source: 'Requests' } }).spec);
    expect(metricsVerdict(planBegun(500), byRequests, NODES, undefined, epochSeconds(NOON + 999))).toEqual({
      kind: 'Fresh',
    });
  });

  it('does not stop a plan that only repairs: it stands on no measurements', () => {
    const plan = planBegun(120);
    const repairs = { ...plan, spec: { ...plan.spec, strategy: 'None' as const } };
    expect(metricsVerdict(plan, options, NODES, undefined, NOON).kind).not.toBe('Fresh');
    expect(metricsVerdict(repairs, options, NODES, undefined, NOON).kind).toBe('Fresh');
  });
});
