import { describe, expect, it } from 'vitest';
import type { HostPort } from '../../../../src/model/pod.ts';
import { nodePorts } from '../../../../src/plan/filters/node-ports.ts';
import { freeCapacityOf } from '../../../../src/plan/free-capacity.ts';
import { aHostPort } from '../../../support/builders/scheduling.ts';
import { aNode, aPod } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

const node = aNode('a');

function fits(wanted: HostPort, used: HostPort): boolean {
  const room = freeCapacityOf(node, [aPod('other', { constraints: { hostPorts: [used] } })]);
  return nodePorts(aSubject({ hostPorts: [wanted] }), node, room) === undefined;
}

describe('NodePorts', () => {
  it('refuses a port that is in use, and names it', () => {
    const room = freeCapacityOf(node, [aPod('other', { constraints: { hostPorts: [aHostPort(80)] } })]);
    expect(nodePorts(aSubject({ hostPorts: [aHostPort(443), aHostPort(80)] }), node, room)).toEqual({
      filter: 'NodePorts',
      port: aHostPort(80),
    });
  });

  it.each([
    { what: 'another port', wanted: aHostPort(81), used: aHostPort(80), free: true },
    { what: 'another protocol', wanted: aHostPort(80, { protocol: 'UDP' }), used: aHostPort(80), free: true },
    {
      what: 'the same address',
      wanted: aHostPort(80, { ip: '10.0.0.1' }),
      used: aHostPort(80, { ip: '10.0.0.1' }),
      free: false,
    },
    {
      what: 'another address',
      wanted: aHostPort(80, { ip: '10.0.0.1' }),
      used: aHostPort(80, { ip: '10.0.0.2' }),
      free: true,
    },
    { what: 'one address against all', wanted: aHostPort(80, { ip: '10.0.0.1' }), used: aHostPort(80), free: false },
    { what: 'all addresses against one', wanted: aHostPort(80), used: aHostPort(80, { ip: '10.0.0.1' }), free: false },
  ])('tells apart $what', ({ wanted, used, free }) => {
    expect(fits(wanted, used)).toBe(free);
  });
});
