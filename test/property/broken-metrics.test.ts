import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot } from '../../src/model/snapshot.ts';
import { milliCpu } from '../../src/model/units.ts';
import { plan } from '../../src/plan/planner.ts';
import { healthySnapshot, optionsArbitrary, wildSample } from '../support/arbitraries.ts';
import { aSample, NOW } from '../support/builders.ts';
import { transfersOf } from '../support/transfers.ts';

const RUNS = { numRuns: 1000 };

describe('a plan from broken metrics', () => {
  it('never throws, never touches a node without a valid sample, and says why it is empty (invariant 8)', () => {
    const broken = healthySnapshot().chain((snapshot) =>
      fc
        .record({
          nodes: fc.array(wildSample, { minLength: 6, maxLength: 6 }),
          pods: fc.array(fc.option(wildSample, { nil: undefined }), { minLength: 24, maxLength: 24 }),
          minCoverage: fc.constantFrom(0, 0.5, 1),
          notReady: fc.integer({ min: 0, max: 63 }),
          capacity: fc.constantFrom(0, 1, 1),
        })
        .map(({ nodes, pods, minCoverage, notReady, capacity }) => ({
          snapshot,
          nodes,
          pods,
          minCoverage,
          notReady,
          capacity,
        })),
    );
    fc.assert(
      fc.property(broken, optionsArbitrary, ({ snapshot, nodes, pods, minCoverage, notReady, capacity }, options) => {
        const wild: ClusterSnapshot = {
          ...snapshot,
          nodes: snapshot.nodes.map((node, index) => ({
            ...node,
            ready: ((notReady >> index) & 1) === 0,
            allocatable: {
              ...node.allocatable,
              cpu: milliCpu(index === 0 ? node.allocatable.cpu * capacity : node.allocatable.cpu),
            },
          })),
          usage: {
            nodes: new Map(snapshot.nodes.map(({ name }, index) => [name, nodes[index] ?? aSample(0)])),
            pods: new Map(
              snapshot.pods.flatMap((pod, index) =>
                pods[index] === undefined ? [] : [[`shop/${pod.name}`, pods[index]]],
              ),
            ),
          },
        };
        const found = plan(wild, { ...options, load: { ...options.load, minCoverage } });
        const valid = new Set(
          wild.nodes.filter(({ name, ready }) => ready && isValid(wild, name)).map(({ name }) => name),
        );
        expect(
          transfersOf(found)
            .flatMap(({ from, to }) => [from, to])
            .filter((name) => !valid.has(name)),
        ).toEqual([]);
        expect(found.outcome.kind === 'Moves' || found.outcome.message.length > 0).toBe(true);
        expect(JSON.stringify([found.spread, found.imbalance])).not.toContain('null');
      }),
      RUNS,
    );
  });
});

function isValid({ usage, nodes }: ClusterSnapshot, name: string): boolean {
  const sample = usage?.nodes.get(name);
  const allocatable = nodes.find((node) => node.name === name)?.allocatable;
  if (sample === undefined || allocatable === undefined) {
    return false;
  }
  const age = NOW - sample.timestamp;
  const fits = (used: number, offered: number): boolean => used >= 0 && (offered === 0 || used <= 4 * offered);
  return age <= 90 && age >= -30 && fits(sample.cpu, allocatable.cpu) && fits(sample.memory, allocatable.memory);
}
