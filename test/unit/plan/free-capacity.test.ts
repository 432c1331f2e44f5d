import { describe, expect, it } from 'vitest';
import {
  copyCapacity,
  emptyNodeCapacity,
  freeCapacityOf,
  occupy,
  roomFor,
  vacate,
} from '../../../src/plan/free-capacity.ts';
import { aHostPort } from '../../support/builders/scheduling.ts';
import { aNode, aPod, constraints } from '../../support/builders.ts';

const node = aNode('a', {
  allocatable: { cpu: 4000, memory: 800, ephemeralStorage: 600, pods: 10, extended: { gpu: 4 } },
});
const asking = constraints({
  requests: { cpu: 500, memory: 100, ephemeralStorage: 50, extended: { gpu: 1, fpga: 2 } },
  hostPorts: [aHostPort(80), aHostPort(443)],
});
const volume = (id: string, driver = 'd') => ({ driver, id });

describe('what a node still has', () => {
  it('is what it offers while no pod is there', () => {
    const limits = new Map([['d', 2]]);
    expect(emptyNodeCapacity(node.allocatable, limits)).toEqual({
      slots: 10,
      cpu: 4000,
      memory: 800,
      ephemeralStorage: 600,
      withoutCpu: 0,
      withoutMemory: 0,
      extended: new Map([['gpu', 4]]),
      ports: [],
      attached: new Map(),
      attachLimits: limits,
    });
  });

  it('is less by what each pod requests, and a slot, also of what the node does not offer', () => {
    const room = freeCapacityOf(node, [aPod('p', { constraints: asking }), aPod('q', { constraints: asking })]);
    expect(room).toMatchObject({ slots: 8, cpu: 3000, memory: 600, ephemeralStorage: 500 });
    expect(room.extended).toEqual(
      new Map([
        ['gpu', 2],
        ['fpga', -4],
      ]),
    );
    expect(room.ports).toHaveLength(4);
    expect(['pods', 'cpu', 'memory', 'ephemeral-storage', 'gpu', 'other'].map((name) => roomFor(room, name))).toEqual([
      8, 3000, 600, 500, 2, 0,
    ]);
  });

  it('counts the pods that request no cpu, and those that request no memory', () => {
    const room = emptyNodeCapacity(node.allocatable);
    const [noCpu, noMemory] = [constraints({ requests: { memory: 1 } }), constraints({ requests: { cpu: 1 } })];
    occupy(room, noCpu);
    occupy(room, noCpu);
    occupy(room, noCpu);
    occupy(room, noMemory);
    occupy(room, asking);
    expect([room.withoutCpu, room.withoutMemory]).toEqual([3, 1]);
    vacate(room, noCpu);
    vacate(room, noMemory);
    expect([room.withoutCpu, room.withoutMemory]).toEqual([2, 0]);
  });

  it('is again what it was when a pod has left', () => {
    const room = emptyNodeCapacity(node.allocatable);
    const other = constraints({ hostPorts: [aHostPort(80, { ip: '10.0.0.1' }), aHostPort(80, { protocol: 'UDP' })] });
    occupy(room, other, [volume('x')]);
    const before = copyCapacity(room);
    occupy(room, asking, [volume('x'), volume('y'), volume('x', 'e')]);
    vacate(room, asking, [volume('x'), volume('y'), volume('x', 'e')]);
    expect({ ...room, attached: undefined, extended: undefined }).toEqual({
      ...before,
      attached: undefined,
      extended: undefined,
    });
    expect(room.extended.get('gpu')).toBe(4);
    expect(room.extended.get('fpga')).toBe(0);
    expect(room.attached.get('d')).toEqual(new Map([['x', 1]]));
    expect(room.attached.get('e')?.size).toBe(0);
  });

  it('gives back the very port that a pod had, by number, protocol and address, once', () => {
    const ports = [
      aHostPort(81),
      aHostPort(80, { protocol: 'UDP' }),
      aHostPort(80, { ip: '10.0.0.1' }),
      aHostPort(80),
      aHostPort(80),
    ];
    const room = emptyNodeCapacity(node.allocatable);
    occupy(room, constraints({ hostPorts: ports }));
    vacate(room, constraints({ hostPorts: [aHostPort(80)] }));
    expect(room.ports).toEqual([ports[0], ports[1], ports[2], ports[4]]);
    vacate(room, constraints({ hostPorts: [aHostPort(90)] }));
    expect(room.ports).toHaveLength(4);
  });

  it('has a volume attached as long as any pod uses it', () => {
    const room = emptyNodeCapacity(node.allocatable);
    occupy(room, asking, [volume('x'), volume('y')]);
    occupy(room, asking, [volume('x')]);
    expect(room.attached.get('d')).toEqual(
      new Map([
        ['x', 2],
        ['y', 1],
      ]),
    );
    vacate(room, asking, [volume('x')]);
    vacate(room, asking, [volume('y')]);
    expect(room.attached.get('d')).toEqual(new Map([['x', 1]]));
  });

  it('does not change with a copy', () => {
    const room = emptyNodeCapacity(node.allocatable);
    const copy = copyCapacity(room);
    occupy(copy, asking, [volume('x')]);
    expect(room).toEqual(emptyNodeCapacity(node.allocatable));
  });
});
