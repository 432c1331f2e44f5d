import { describe, expect, it } from 'vitest';
import type { AppGraph, AppGraphStatus } from '../../../src/api/v1alpha1/app-graph.ts';
import { reportGraphs } from '../../../src/control/graph-status.ts';
import type { AppGraphInfo } from '../../../src/model/app-graph.ts';
import { plan } from '../../../src/plan/planner.ts';
import { type AppGraphStore, ConflictError } from '../../../src/ports.ts';
import { someOptions, trafficAware } from '../../support/builders/options.ts';
import { aNode, aSnapshot } from '../../support/builders.ts';
import { testClock } from '../../support/test-clock.ts';

const { signal } = new AbortController();
const GRAPH: AppGraphInfo = { namespace: 'shop', name: 'checkout', uid: 'u', generation: 1, members: [], edges: [] };
const SNAPSHOT = aSnapshot({ nodes: [aNode('a')], usage: undefined, appGraphs: [GRAPH] });

function aStore(generation: number, fails?: Error) {
  const written: AppGraphStatus[] = [];
  const spec = { members: [{ name: 'web' }] };
  const metadata = { namespace: 'shop', name: 'checkout', uid: 'u', generation };
  const stored = (): AppGraph => {
    const status = written.at(-1);
    const head = { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'AppGraph' } as const;
    return { ...head, metadata, spec, ...(status === undefined ? {} : { status }) };
  };
  const store: AppGraphStore = {
    list: async () => [stored()],
    writeStatus: async (_, status) => {
      if (fails !== undefined) {
        throw fails;
      }
      written.push(status);
    },
  };
  return { store, written };
}

async function runs(count: number, appGraphs: AppGraphStore, strategy = trafficAware()): Promise<readonly string[]> {
  const lines: string[] = [];
  const found = plan(SNAPSHOT, someOptions({ strategy, load: { source: 'Requests' } }));
  const ports = { appGraphs, clock: testClock(), log: (line: string) => void lines.push(line) };
  for (let run = 0; run < count; run += 1) {
    await reportGraphs('traffic', SNAPSHOT, found, ports, signal);
  }
  return lines;
}

describe('the status of AppGraphs after a run', () => {
  it('is written once, and not again while nothing changes', async () => {
    const { store, written } = aStore(1);
    await runs(3, store);
    expect(written.map(({ crossDomain }) => crossDomain?.[0]?.bandwidth)).toEqual(['0k']);
  });

  it('is left to the next run where the AppGraph was edited since', async () => {
    const { store, written } = aStore(2);
    await runs(1, store);
    expect(written).toEqual([]);
  });

  it.each([
    ['is gone', new ConflictError('gone')],
    ['may not be written', new Error('refused')],
  ])('is left to the next run where the AppGraph %s', async (_, error) => {
    expect(await runs(1, aStore(1, error).store)).toEqual(['graph status not stored']);
  });
});
