import { describe, expect, it } from 'vitest';
import { runLoop } from '../../../src/control/loop.ts';
import { OPERATOR_PACE } from '../../../src/control/pace.ts';
import { seconds } from '../../../src/model/units.ts';
import type { UsageServer } from '../../../src/ports.ts';
import type { World } from '../../support/fake-world.ts';
import { tilted } from '../../support/played.ts';
import { drive } from '../../support/test-clock.ts';

const forever = new AbortController().signal;
const QUICK = Array.from({ length: 9 }, (_, place) => `quick-${place}`);

/** A Prometheus that answers after `span` seconds, always with an error. */
function failingAfter(w: World, span: number): UsageServer {
  const fail = async (): Promise<never> => {
    await w.clock.sleep(seconds(span), forever);
    throw new Error('query timed out');
  };
  return { nodes: fail, pods: fail, nodeLoads: fail, traffic: fail };
}

/** When each policy was planned, in seconds after the start, while the tenth takes `span` seconds to observe and then fails. */
async function runsBeside(span: number, play: number): Promise<ReadonlyMap<string, readonly number[]>> {
  const w = tilted();
  w.policies.apply('a-slow', { interval: '10s', load: { source: 'Prometheus', prometheus: { server: 'main' } } });
  for (const name of QUICK) {
    w.policies.apply(name, { interval: '20s', mode: 'DryRun' });
  }
  const runs = new Map<string, number[]>(QUICK.map((name) => [name, []]));
  const start = w.clock.now();
  const telemetry: World['ports']['telemetry'] = {
    ...w.ports.telemetry,
    planned: ({ policy }) => void runs.get(policy)?.push(w.clock.now() - start),
  };
  const stop = new AbortController();
  w.clock.at(start + play, () => stop.abort());
  const ports = { ...w.ports, telemetry, usageServers: new Map([['main', failingAfter(w, span)]]) };
  const settings = {
    excludedNamespaces: new Set<string>(),
    maxInFlight: 100,
    pace: OPERATOR_PACE,
    passed: () => undefined,
  };
  await drive(w.clock, runLoop(ports, settings, stop.signal));
  expect(w.failures()).toBeGreaterThan(0);
  return runs;
}

describe('nine policies beside one that always fails', () => {
  it.each([0, 5, 30, 150])('after %d s run every 20 s, at most two seconds late', async (span) => {
    for (const [name, instants] of await runsBeside(span, 200)) {
      const late = instants.map((instant, place) => instant - 20 * place);
      expect({ name, runs: instants.length }).toEqual({ name, runs: 10 });
      expect(Math.max(...late)).toBeLessThanOrEqual(2);
    }
  });
});
