import { describe, expect, it } from 'vitest';
import { domainHosts, type Targets } from '../../../../src/plan/traffic/domain-hosts.ts';
import { runningApplication } from '../../../../src/plan/traffic/running.ts';
import { stateOf } from '../../../support/state.ts';
import { loaded } from '../strategies/loaded.ts';
import { PERCENT } from '../strategies/noted-terms.ts';

/** Zone x has nodes 0 and 1, zone y has node 2. */
const ZONES = { names: ['x', 'y'], of: Int32Array.of(0, 0, 1), nodes: [[0, 1], [2]] };
const [X, Y] = [0, 1];

/** The zones as hosts of these pods, and where each pod is; others load the nodes of x by these percents. */
function hostsOf(sizes: readonly number[], [first, second]: readonly [number, number], targets: Partial<Targets> = {}) {
  const state = stateOf(loaded([first], [second], sizes));
  const pods = sizes.map((_, place) => 2 + place);
  const application = runningApplication(state, 'shop', [{ name: 'web', pods }], []);
  const hosts = domainHosts(state, ZONES, application, {
    mayLeave: () => true,
    isClosed: () => false,
    upTo: Number.POSITIVE_INFINITY,
    price: ([cpu = 0], host) => cpu + host,
    ...targets,
  });
  return { hosts, nodes: () => pods.map((pod) => state.nodeOf(pod)) };
}

describe('zones as hosts of an application that runs', () => {
  it('have its pods on no node before they are placed', () => {
    expect(hostsOf([5, 5], [0, 0]).nodes()).toEqual([-1, -1]);
  });

  it('take a pod home, whatever is closed and however loaded its node is', () => {
    const { hosts, nodes } = hostsOf([50], [0, 0], { mayLeave: () => false, isClosed: () => true, upTo: 0 });
    expect([hosts.takes(0, X), hosts.takes(0, Y)]).toEqual([false, true]);
    hosts.place(0, Y);
    expect(nodes()).toEqual([2]);
  });

  it('take a pod from elsewhere where it may leave, its zone is open, and a node is loaded little enough with it', () => {
    const takes = (targets: Partial<Targets>) => hostsOf([5], [10, 20], targets).hosts.takes(0, X);
    expect(takes({})).toBe(true);
    expect([takes({ mayLeave: () => false }), takes({ isClosed: (_, host) => host === X })]).toEqual([false, false]);
    expect([takes({ upTo: 15 * PERCENT }), takes({ upTo: 15 * PERCENT - 1 })]).toEqual([true, false]);
  });

  it.each([
    ['the first node of all', [10, 20], 0],
    ['another', [20, 10], 1],
  ] as const)(
    'put a pod on the node with the least load, and back there when it was taken off: %s',
    (_, loads, node) => {
      const { hosts, nodes } = hostsOf([5, 15], loads);
      hosts.place(0, X);
      hosts.place(1, X);
      expect(nodes()).toEqual([node, node]);
      hosts.lift(0, X);
      expect(nodes()).toEqual([-1, node]);
      // By now the other node would have less load with it.
      hosts.place(0, X);
      expect(nodes()).toEqual([node, node]);
    },
  );

  it('put a pod on another node than before where that would be loaded too much by now', () => {
    const { hosts, nodes } = hostsOf([5, 15], [10, 20], { upTo: 25 * PERCENT });
    hosts.place(0, X);
    hosts.lift(0, X);
    hosts.place(1, X);
    hosts.place(0, X);
    expect(nodes()).toEqual([1, 0]);
  });

  it('have what requests leave free, and prices by what a pod demands', () => {
    const { hosts } = hostsOf([5], [10, 20]);
    expect([hosts.count, [...hosts.free(X)][0], [...hosts.free(Y)][0]]).toEqual([2, 20_000, 10_000]);
    expect([hosts.price(0, X), hosts.price(0, Y), hosts.isUsed(X)]).toEqual([0, 1, true]);
  });
});
