import type { Taint, TaintEffect } from '../../../src/model/node.ts';
import type { HostPort, PodAffinityTerm, SpreadConstraint, Toleration } from '../../../src/model/pod.ts';
import type { Selector } from '../../../src/model/selector.ts';
import { selecting } from '../builders.ts';

/** A term of pod affinity over zones that selects pods by label in the pod's own namespace. */
export function anAffinityTerm(
  selected: Readonly<Record<string, string>> | Selector | undefined,
  fields: Partial<Omit<PodAffinityTerm, 'selector'>> = {},
): PodAffinityTerm {
  const selector = selected === undefined || isSelector(selected) ? selected : selecting(selected);
  return { selector, namespaces: [], namespaceSelector: undefined, topologyKey: 'zone', ...fields };
}

function isSelector(selected: Readonly<Record<string, string>> | Selector): selected is Selector {
  return Array.isArray(selected.requirements);
}

/** A constraint that spreads pods with this label evenly over zones, with the API's defaults. */
export function aSpread(
  selected: Readonly<Record<string, string>>,
  fields: Partial<SpreadConstraint> = {},
): SpreadConstraint {
  return {
    whenUnsatisfiable: 'DoNotSchedule',
    maxSkew: 1,
    topologyKey: 'zone',
    selector: selecting(selected),
    minDomains: 1,
    nodeAffinityPolicy: 'Honor',
    nodeTaintsPolicy: 'Ignore',
    ...fields,
  };
}

/** A taint; NoSchedule unless it says otherwise. */
export function aTaint(key: string, value = '', effect: TaintEffect = 'NoSchedule'): Taint {
  return { key, value, effect };
}

/** A toleration that tolerates a key whatever its value and effect. */
export function aToleration(fields: Partial<Toleration> = {}): Toleration {
  return { key: undefined, operator: 'Exists', value: '', effect: undefined, ...fields };
}

/** A host port; TCP on every address unless it says otherwise. */
export function aHostPort(port: number, fields: Partial<HostPort> = {}): HostPort {
  return { ip: '0.0.0.0', protocol: 'TCP', port, ...fields };
}
