import { at, itemAt, type NodeIndex, numberAt, type PodIndex } from '../indices.ts';
import type { State } from '../state.ts';
import type { TrafficDomains } from './domains.ts';
import type { Hosts } from './hosts.ts';
import type { HostIndex, Network } from './network.ts';
import { leftOn, type RunningApplication } from './running.ts';

/** Where pods may go. */
export interface Targets {
  /** Whether a plan may move the component. */
  readonly mayLeave: (component: number) => boolean;
  /** Whether the domain does not take the component from elsewhere. */
  readonly isClosed: (component: number, host: HostIndex) => boolean;
  /** No pod goes to a node that would be loaded more than this (see load.ts). */
  readonly upTo: number;
  readonly price: Network['hostPrice'];
}

/**
 * Domains as the hosts of an application that runs. Its pods are taken off the state; what is placed in a domain goes home if that
 * is there, else to the node that has the least load with all that have their home there and no place yet.
 */
export function domainHosts(
  state: State,
  domains: TrafficDomains,
  { pods, application }: RunningApplication,
  { mayLeave, isClosed, upTo, price }: Targets,
): Hosts {
  const homes = pods.map((pod) => state.nodeOf(pod));
  /** Per component where it was last in each domain, so that who is taken off and put back finds its place. */
  const last = new Int32Array(pods.length * domains.nodes.length).fill(-1);
  const free = domains.nodes.map((nodes) => sumOf(nodes.map((node) => leftOn(state, node))));
  const reserved = new Float64Array(state.cluster.nodes.length);
  const reserve = (component: number, sign: 1 | -1): void => {
    const home = numberAt(homes, component);
    const load = state.loadWith(numberAt(pods, component), home) - state.load(home);
    reserved[home] = (reserved[home] ?? 0) + sign * load;
  };
  const seat = (component: number, host: HostIndex): NodeIndex => {
    const [pod, home] = [numberAt(pods, component), numberAt(homes, component)];
    if (domains.of[home] === host) {
      return home;
    }
    const before = last[component * domains.nodes.length + host] ?? -1;
    if (before >= 0 && state.loadWith(pod, before) <= upTo && state.fits(pod, before)) {
      return before;
    }
    return mayLeave(component) && !isClosed(component, host)
      ? leastLoaded(state, itemAt(domains.nodes, host), pod, upTo, reserved)
      : -1;
  };
  const change = (component: number, host: HostIndex, sign: 1 | -1): void => {
    const own = itemAt(free, host);
    itemAt(application.demands, component).forEach((amount, resource) => {
      own[resource] = (own[resource] ?? 0) - sign * amount;
    });
  };
  for (const [component, pod] of pods.entries()) {
    state.lift(pod);
    change(component, at(domains.of, numberAt(homes, component)), -1);
    reserve(component, 1);
  }
  return {
    count: domains.nodes.length,
    free: (host) => itemAt(free, host),
    isUsed: () => true,
    takes: (component, host) => seat(component, host) >= 0,
    price: (component, host) => price(itemAt(application.demands, component), host),
    place: (component, host) => {
      reserve(component, -1);
      const node = seat(component, host);
      // Pods that are placed once more in another order may find less: whether a move is feasible is decided when it is made.
      state.place(numberAt(pods, component), node < 0 ? emptiest(state, itemAt(domains.nodes, host)) : node);
      change(component, host, 1);
    },
    lift: (component, host) => {
      const pod = numberAt(pods, component);
      last[component * domains.nodes.length + host] = state.nodeOf(pod);
      state.lift(pod);
      change(component, host, -1);
      reserve(component, 1);
    },
  };
}

/** The node that has the least load with the pod, of those that may take it; -1 for none. */
export function leastLoaded(
  state: State,
  nodes: readonly NodeIndex[],
  pod: PodIndex,
  upTo: number,
  reserved?: Float64Array,
): NodeIndex {
  let [found, least] = [-1, Number.POSITIVE_INFINITY];
  for (const node of nodes) {
    const load = state.loadWith(pod, node);
    const rank = load + (reserved?.[node] ?? 0);
    if (rank < least && load <= upTo && state.fits(pod, node)) {
      [found, least] = [node, rank];
    }
  }
  return found;
}

/** The node that has the least load. */
function emptiest(state: State, nodes: readonly NodeIndex[]): NodeIndex {
  return nodes.reduce((least, node) => (state.load(node) < state.load(least) ? node : least), numberAt(nodes, 0));
}

function sumOf(amounts: readonly Float64Array[]): Float64Array {
  const total = new Float64Array(2);
  for (const each of amounts) {
    each.forEach((amount, resource) => {
      total[resource] = (total[resource] ?? 0) + amount;
    });
  }
  return total;
}
