import { describe, expect, it } from 'vitest';
import type { AppGraphStatus } from '../../../src/api/v1alpha1/app-graph.ts';
import type { AppGraphInfo } from '../../../src/model/app-graph.ts';
import { epochSeconds } from '../../../src/model/units.ts';
import type { ApplicationTraffic, Reason, TrafficReport } from '../../../src/plan/plan.ts';
import { appGraphStatus, isGraphNews } from '../../../src/report/app-graph-status.ts';

const ZONE = 'topology.kubernetes.io/zone';
const NOW = epochSeconds(1_000);
const web = { name: 'web', workload: { kind: 'Deployment', name: 'web' } };
const LEARNT: AppGraphInfo = {
  namespace: 'shop',
  name: 'checkout',
  uid: 'u',
  generation: 2,
  members: [web],
  edges: [
    { from: 'web', to: 'db', bandwidth: 10e6 },
    { from: 'web', to: 'log', bandwidth: 20e6 },
  ],
  query: { server: 'main', promql: 'traffic' },
  learning: { kind: 'Learnt', at: epochSeconds(900), ignored: 3 },
};

const amount = (bandwidth: number) => ({ bandwidth, cost: undefined });

function aReport(bandwidth: number, stays?: Reason, domain = ZONE): TrafficReport {
  const planned = amount(0);
  const before = amount(bandwidth);
  const application: ApplicationTraffic = { namespace: 'shop', name: 'checkout', moves: 0, before, planned, stays };
  return { domain, before, planned, between: [], applications: [application] };
}

function statusAfter(graph: AppGraphInfo, traffic: TrafficReport | undefined, old: AppGraphStatus = {}) {
  return appGraphStatus(graph, traffic, old, NOW);
}

const conditionsOf = ({ conditions = [] }: AppGraphStatus) =>
  conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);

describe('the status of an AppGraph', () => {
  it('has what was learnt, the largest edge first, and what passes between domains', () => {
    const status = statusAfter(LEARNT, aReport(12e6));
    expect(status).toMatchObject({
      observedGeneration: 2,
      traffic: '30M',
      edges: [
        { from: 'web', to: 'log', bandwidth: '20M' },
        { from: 'web', to: 'db', bandwidth: '10M' },
      ],
      moreEdges: 0,
      ignoredSamples: 3,
      learntAt: '1970-01-01T00:15:00Z',
      crossDomain: [{ domain: ZONE, bandwidth: '12M' }],
    });
    expect(conditionsOf(status)).toEqual(['Valid True AsExpected', 'Learnt True Answered']);
  });

  it('lists the 50 largest edges and counts the others', () => {
    const edges = Array.from({ length: 60 }, (_, place) => ({ from: 'web', to: `m-${place}`, bandwidth: 1e6 + place }));
    const status = statusAfter({ ...LEARNT, edges }, aReport(0));
    expect(status.edges).toHaveLength(50);
    expect(status.moreEdges).toBe(10);
  });

  it('has nothing that was learnt before once nothing is known, and says why', () => {
    const message = 'Prometheus server main: it answers 503: busy';
    const learning = { kind: 'Unknown', reason: 'ServerFailed', message } as const;
    const stays = { code: 'TrafficUnknown', message, numbers: {} } as const;
    const before = statusAfter(LEARNT, aReport(12e6));
    const status = statusAfter({ ...LEARNT, edges: [], learning }, aReport(0, stays), before);
    expect(status).toEqual({ observedGeneration: 2, conditions: status.conditions });
    expect(status.conditions?.[1]).toMatchObject({ status: 'False', reason: 'ServerFailed', message });
    expect(isGraphNews(before, status)).toBe(true);
  });

  it('is not valid where another AppGraph has its pods', () => {
    const stays = { code: 'SharedWorkload', message: 'selects shop/web-0', numbers: {} } as const;
    expect(conditionsOf(statusAfter(LEARNT, aReport(0, stays)))[0]).toBe('Valid False SharedWorkload');
  });

  it('keeps what was known where a run could not look at traffic', () => {
    const before = statusAfter(LEARNT, aReport(12e6));
    expect(isGraphNews(before, statusAfter(LEARNT, undefined, before))).toBe(false);
  });

  it('has the traffic between the domains of each policy at a place of its own', () => {
    const zones = statusAfter(LEARNT, aReport(12e6));
    const both = statusAfter(LEARNT, aReport(25e6, undefined, 'kubernetes.io/hostname'), zones);
    const again = statusAfter(LEARNT, aReport(12e6), both);
    expect(again.crossDomain?.map(({ bandwidth }) => bandwidth)).toEqual(['12M', '25M']);
    expect(isGraphNews(both, again)).toBe(false);
  });
});

describe('news of an AppGraph', () => {
  const [one, other] = LEARNT.edges;
  const withBandwidth = (bandwidth: number): AppGraphInfo => ({
    ...LEARNT,
    edges: [one, other].flatMap((edge) => (edge === undefined ? [] : [{ ...edge, bandwidth }])),
  });
  const old = statusAfter(withBandwidth(10e6), aReport(10e6));

  it.each([
    ['the same', withBandwidth(10e6), 10e6, false],
    ['an edge that has grown by 9 %', withBandwidth(10.9e6), 10e6, false],
    ['an edge that has grown by 20 %', withBandwidth(12e6), 10e6, true],
    ['traffic between domains that has ended', withBandwidth(10e6), 0, true],
    ['another generation', { ...withBandwidth(10e6), generation: 3 }, 10e6, true],
  ])('is %s: %s', (_, graph, crossing, isNews) => {
    expect(isGraphNews(old, statusAfter(graph, aReport(crossing), old))).toBe(isNews);
  });
});
