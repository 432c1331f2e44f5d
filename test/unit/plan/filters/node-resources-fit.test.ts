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

  it('is less by all that its pods request, and tells how many of them request no cpu, or no memory', () => {
    const room = freeCapacityOf(node, []);
    const wanting = (cpu: number, memory: number) => constraints({ requests: { cpu, memory } });
    occupy(room, demanding);
    expect(room).toMatchObject({ slots: 2, cpu: 990, memory: GIB - 20, ephemeralStorage: GIB - 30 });
    expect([room.extended, room.ports]).toEqual([new Map([['gpu', 1]]), [aHostPort(80)]]);
    const counts = () => [room.slots, room.withoutCpu, room.withoutMemory];
    expect(counts()).toEqual([2, 0, 0]);
    occupy(room, wanting(0, 5));
    expect(counts()).toEqual([1, 1, 0]);
    occupy(room, wanting(5, 0));
    occupy(room, wanting(0, 0));
    expect(counts()).toEqual([-1, 2, 2]);
    vacate(room, wanting(5, 0));
    expect(counts()).toEqual([0, 2, 1]);
    vacate(room, wanting(0, 5));
    vacate(room, wanting(0, 0));
    expect(counts()).toEqual([2, 0, 0]);
  });

  it('gives back one port of several that are alike, and keeps those of another address, protocol or number', () => {
    const ports = [aHostPort(80), aHostPort(80), aHostPort(80, { ip: '10.0.0.1' }), aHostPort(80, { protocol: 'UDP' })];
    const others = [...ports, aHostPort(81)];
    const room = freeCapacityOf(node, [aPod('p', { constraints: { hostPorts: others } })]);
    vacate(room, constraints({ hostPorts: [aHostPort(80)] }));
    expect(room.ports).toEqual(others.slice(1));
    vacate(room, constraints({ hostPorts: [aHostPort(80)] }));
    expect(room.ports).toEqual(others.slice(2));
    vacate(room, constraints({ hostPorts: [aHostPort(80)] }));
    expect(room.ports).toEqual(others.slice(2));
  });

  it('counts the users of each volume, and detaches one that nobody uses', () => {
    const room = freeCapacityOf(node, []);
    const [first, second] = [
      { driver: 'disk', id: 'v1' },
      { driver: 'disk', id: 'v2' },
    ];
    occupy(room, constraints(), [first, second]);
    occupy(room, constraints(), [first]);
    expect(room.attached).toEqual(
      new Map([
        [
          'disk',
          new Map([
            ['v1', 2],
            ['v2', 1],
          ]),
        ],
      ]),
    );
    vacate(room, constraints(), [first, second]);
    expect(room.attached).toEqual(new Map([['disk', new Map([['v1', 1]])]]));
    vacate(room, constraints(), [first]);
    expect(room.attached).toEqual(new Map([['disk', new Map()]]));
  });

  it('is not changed through a copy, nor is the node', () => {
    const room = freeCapacityOf(node, []);
    const before = structuredClone({ room, node });
    occupy(copyCapacity(room), demanding);
    expect({ room, node }).toEqual(before);
  });
});
