import { isObject, type JsonObject, textAt } from '../../model/json.ts';
import { durationOf } from './duration.ts';

/** A DeschedulerPolicy, and when it is run where its surroundings say so. */
export interface WrappedPolicy {
  readonly policy: unknown;
  /** As spec.schedule or spec.interval of a RebalancePolicy. */
  readonly timing: { readonly schedule: string } | { readonly interval: string } | undefined;
}

const HELM_KEY = 'deschedulerPolicy';

/**
 * The DeschedulerPolicy in what people keep it in: the policy itself, a ConfigMap with the key policy.yaml, or the values
 * of the descheduler's Helm chart. `parse` reads YAML; what it throws passes through.
 */
export function unwrap(value: unknown, parse: (text: string) => unknown): WrappedPolicy {
  if (!isObject(value)) {
    return { policy: value, timing: undefined };
  }
  if (value['kind'] === 'ConfigMap') {
    return { policy: inConfigMap(value, parse), timing: undefined };
  }
  return HELM_KEY in value ? inHelmValues(value) : { policy: value, timing: undefined };
}

function inConfigMap({ data }: JsonObject, parse: (text: string) => unknown): unknown {
  const text = isObject(data) ? (textAt(data, 'policy.yaml', 'data') ?? '') : '';
  return text === '' ? undefined : parse(text);
}

function inHelmValues(values: JsonObject): WrappedPolicy {
  const policy = values[HELM_KEY];
  const apiVersion = textAt(values, 'deschedulerPolicyAPIVersion', '') ?? 'descheduler/v1alpha2';
  const schedule = textAt(values, 'schedule', '');
  const interval = textAt(values, 'deschedulingInterval', '');
  const isDeployment = values['kind'] === 'Deployment';
  return {
    policy: isObject(policy) ? { apiVersion, kind: 'DeschedulerPolicy', ...policy } : policy,
    timing: isDeployment ? timingOf('interval', interval) : timingOf('schedule', schedule),
  };
}

function timingOf(key: 'schedule' | 'interval', text: string | undefined): WrappedPolicy['timing'] {
  if (text === undefined) {
    return undefined;
  }
  return key === 'schedule' ? { schedule: text } : { interval: durationOf(text) };
}
