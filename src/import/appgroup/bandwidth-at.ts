import { bandwidthText, HIGHEST_BANDWIDTH } from '../../model/bandwidth.ts';
import { type JsonObject, MalformedField } from '../../model/json.ts';
import { isQuantityError, parseQuantity } from '../../model/quantity.ts';

/** Bits per second of the Kubernetes quantity at `key`; undefined when absent, null or 0. Throws MalformedField. */
export function bandwidthAt(parent: JsonObject, key: string, path: string): number | undefined {
  const value = parent[key];
  if (value === undefined || value === null) {
    return undefined;
  }
  const quantity = parseQuantity(typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '');
  if (isQuantityError(quantity)) {
    throw new MalformedField(`${path}.${key}`, quantity.error);
  }
  const bandwidth = Number(quantity.nano) / 1e9;
  if (bandwidth < 0 || bandwidth > HIGHEST_BANDWIDTH) {
    const most = bandwidthText(HIGHEST_BANDWIDTH);
    throw new MalformedField(`${path}.${key}`, `${value} is no bandwidth: write 0 to ${most} bits per second`);
  }
  return bandwidth === 0 ? undefined : bandwidth;
}
