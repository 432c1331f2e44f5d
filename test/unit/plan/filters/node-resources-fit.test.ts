import { describe, expect, it } from 'vitest';
import { nodeResourcesFit } from '../../../../src/plan/filters/node-resources-fit.ts';
import type { Refusal } from '../../../../src/plan/filters/refusal.ts';
import { copyCapacity, freeCapacityOf, occupy, vacate } from '../../../../src/plan/free-capacity.ts';
import { aHostPort } from '../../../support/builders/scheduling.ts';
import { aNode, aPod, constraints, type Resources } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

const GIB = 2 ** 30;
const node = aNode('a', {
  allocatable: { cpu: 1000, memory: GIB, ephemeralStorage: GIB, pods: 3, extended: { gpu: 2 } },
});

function verdict(wanted: Resources, ...others: readonly Resources[]): Refusal | undefined {
  const pods = others.map((requests, index) => aPod(`p${index}`, { constraints: { requests } }));
  return nodeResourcesFit(aSubject({ requests: wanted }), node, freeCapacityOf(node, pods));
}

describe('NodeResourcesFit', () => {
  it('lets a pod fill a node to the last unit', () => {
    expect(
      verdict(
        { cpu: 400, memory: GIB, ephemeralStorage: GIB, extended: { gpu: 1 } },
        { cpu: 600, extended: { gpu: 1 } },
      ),
    ).toBeUndefined();
  });

  it.each([
    { wanted: { cpu: 401 }, other: { cpu: 600 }, refusal: { resource: 'cpu', need: 401, free: 400 } },
    { wanted: { memory: 2 }, other: { memory: GIB - 1 }, refusal: { resource: 'memory', need: 2, free: 1 } },
    {
      wanted: { ephemeralStorage: 2 },
      other: { ephemeralStorage: GIB - 1 },
      refusal: { resource: 'ephemeral-storage', need: 2, free: 1 },
    },
    {
      wanted: { extended: { gpu: 2 } },
      other: { extended: { gpu: 1 } },
      refusal: { resource: 'gpu', need: 2, free: 1 },
    },
    { wanted: { extended: { fpga: 1 } }, other: {}, refusal: { resource: 'fpga', need: 1, free: 0 } },
  ])('refuses when $refusal.resource does not suffice, with the numbers', ({ wanted, other, refusal }) => {
    expect(verdict(wanted, other)).toEqual({ filter: 'NodeResourcesFit', ...refusal });
  });

  it('refuses when all pod slots are taken', () => {
    expect(verdict({}, {}, {}, {})).toEqual({ filter: 'NodeResourcesFit', resource: 'pods', need: 1, free: 0 });
  });

  it('does not ask for what is not requested, however overcommitted it is', () => {
    expect(verdict({ memory: 1 }, { cpu: 5000 })).toBeUndefined();
  });

  it('counts an extended resource that is requested with zero as not requested', () => {
    expect(verdict({ extended: { fpga: 0 } })).toBeUndefined();
  });
});

describe('the room of a node', () => {
  const demanding = constraints({
    requests: { cpu: 10, memory: 20, ephemeralStorage: 30, extended: { gpu: 1 } },
    hostPorts: [aHostPort(80)],
  });

  it('is what it was after a pod came and went', () => {
    const room = freeCapacityOf(node, [aPod('p', { constraints: { hostPorts: [aHostPort(80)] } })]);
    const before = structuredClone(room);
    occupy(room, demanding);
    expect(room).not.toEqual(before);
    vacate(room, demanding);
    expect(room).toEqual(before);
  });

  it('is not changed through a copy, nor is the node', () => {
    const room = freeCapacityOf(node, []);
    const before = structuredClone({ room, node });
    occupy(copyCapacity(room), demanding);
    expect({ room, node }).toEqual(before);
  });
});
