import { isObject, type JsonObject, listAt, parseGoDuration, parseTimestamp } from '../../model/json.ts';
import { isQuantityError, parseQuantity, type Quantity, toBytes, toFractionalMilliCpu } from '../../model/quantity.ts';
import type { Usage } from '../../model/resources.ts';
import type { UsageSample } from '../../model/snapshot.ts';
import { bytes, epochSeconds, milliCpu, type Seconds, seconds } from '../../model/units.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';
import { quantityText } from './resource-list.ts';

/** What plans read of a NodeMetrics. */
export const NODE_METRICS_FIELDS: FieldMask = { metadata: METADATA_FIELDS, timestamp: true, window: true, usage: true };

/** What plans read of a PodMetrics. */
export const POD_METRICS_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  timestamp: true,
  window: true,
  containers: [{ name: true, usage: true }],
};

/** A sample and the node, or the `namespace/name` of the pod, that it is about. */
export interface ProjectedSample {
  readonly key: string;
  readonly sample: UsageSample;
}

/** A NodeMetrics of metrics.k8s.io. What cannot be read is NaN, what is negative stays so. Throws MalformedField. */
export function projectNodeMetrics(object: JsonObject): ProjectedSample {
  const { name } = readMetadata(object, 'NodeMetrics', 'Cluster');
  return { key: name, sample: { ...readUsage([object.usage]), ...readTime(object) } };
}

/** A PodMetrics, containers summed exactly; NaN when it has none, or one that cannot be read. Throws MalformedField. */
export function projectPodMetrics(object: JsonObject): ProjectedSample {
  const { namespace, name } = readMetadata(object, 'PodMetrics', 'Namespaced');
  const containers = listAt(object, 'containers', '').map((item) => (isObject(item) ? item.usage : undefined));
  return { key: `${namespace}/${name}`, sample: { ...readUsage(containers), ...readTime(object) } };
}

/** The sum of these usages. */
function readUsage(usages: readonly unknown[]): Usage {
  const objects = usages.map((usage) => (isObject(usage) ? usage : {}));
  return {
    cpu:
      total(
        objects.map(({ cpu }) => cpu),
        toFractionalMilliCpu,
      ) ?? milliCpu(Number.NaN),
    memory:
      total(
        objects.map(({ memory }) => memory),
        toBytes,
      ) ?? bytes(Number.NaN),
  };
}

/** Undefined for no quantities, and when one of them cannot be read: what is absent is not zero. */
function total<Unit>(quantities: readonly unknown[], convert: (quantity: Quantity) => Unit): Unit | undefined {
  let nano = 0n;
  for (const value of quantities) {
    const text = value === undefined || value === null ? undefined : quantityText(value);
    const quantity = text === undefined ? undefined : parseQuantity(text);
    if (quantity === undefined || isQuantityError(quantity)) {
      return undefined;
    }
    nano += quantity.nano;
  }
  return quantities.length === 0 ? undefined : convert({ nano, format: 'DecimalSI' });
}

function readTime(object: JsonObject): Pick<UsageSample, 'timestamp' | 'window'> {
  const { timestamp, window } = object;
  return {
    timestamp: typeof timestamp === 'string' ? parseTimestamp(timestamp) : epochSeconds(Number.NaN),
    window: readWindow(window),
  };
}

/** 0 when there is none, or none that can be read. */
function readWindow(window: unknown): Seconds {
  const span = typeof window === 'string' ? parseGoDuration(window) : seconds(0);
  return Number.isNaN(span) ? seconds(0) : span;
}
