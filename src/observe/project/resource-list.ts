import { describe, entriesAt, type JsonObject, MalformedField } from '../../model/json.ts';
import { isQuantityError, type Quantity, toBytes, toCount, toMilliCpu } from '../../model/quantity.ts';
import type { ResourceVector } from '../../model/resources.ts';
import type { Bytes } from '../../model/units.ts';
import type { Interner } from '../interner.ts';

/** Exact amounts in billionths by resource name: a v1.ResourceList. */
export type Amounts = Map<string, bigint>;

/** The resource list at `key`; empty when absent. Throws MalformedField for what is no quantity, or is negative. */
export function readAmounts(parent: JsonObject, key: string, field: string, interner: Interner): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, value] of entriesAt(parent, key, field)) {
    const path = `${field}.${key}.${name}`;
    const { nano } = readQuantity(value, path, interner);
    if (nano < 0n) {
      throw new MalformedField(path, `${describe(value)} is negative`);
    }
    amounts.set(name, nano);
  }
  return amounts;
}

/** A quantity as text or number; null is zero, as in apimachinery. Throws MalformedField. */
export function readQuantity(value: unknown, path: string, interner: Interner): Quantity {
  const text = quantityText(value);
  if (text === undefined) {
    throw new MalformedField(path, `${describe(value)} is not a quantity: write 250m, 1.5 or 512Mi`);
  }
  const quantity = interner.quantity(text);
  if (isQuantityError(quantity)) {
    throw new MalformedField(path, quantity.error);
  }
  return quantity;
}

/** What to parse of a quantity in JSON, where numbers are allowed too; undefined when it can be none. */
export function quantityText(value: unknown): string | undefined {
  if (typeof value === 'string') {
    return value.trim();
  }
  if (typeof value === 'number') {
    return String(value);
  }
  return value === null || value === undefined ? '0' : undefined;
}

/** Adds `more` to `amounts`. */
export function addAmounts(amounts: Amounts, more: ReadonlyMap<string, bigint>): void {
  for (const [name, amount] of more) {
    amounts.set(name, (amounts.get(name) ?? 0n) + amount);
  }
}

/** Raises each of `amounts` to that of `other`. */
export function raiseAmounts(amounts: Amounts, other: ReadonlyMap<string, bigint>): void {
  for (const [name, amount] of other) {
    const known = amounts.get(name);
    if (known === undefined || amount > known) {
      amounts.set(name, amount);
    }
  }
}

const COUNTED_APART = new Set(['cpu', 'memory', 'ephemeral-storage', 'pods']);

/** `amounts` as the scheduler's framework.Resource counts them, each rounded up. */
export function toResourceVector(amounts: ReadonlyMap<string, bigint>): ResourceVector {
  return {
    cpu: toMilliCpu(decimal(amounts.get('cpu'))),
    memory: toBytes(decimal(amounts.get('memory'))),
    ephemeralStorage: toBytes(decimal(amounts.get('ephemeral-storage'))),
    extended: scalarResources(amounts),
  };
}

/** Everything that the scheduler calls a scalar resource, by name; zero amounts are left out. */
function scalarResources(amounts: ReadonlyMap<string, bigint>): ReadonlyMap<string, number> {
  const extended = new Map<string, number>();
  for (const name of [...amounts.keys()].sort()) {
    const count = toCount(decimal(amounts.get(name)));
    if (count !== 0 && isScalarResource(name)) {
      extended.set(name, count);
    }
  }
  return extended;
}

/** schedutil.IsScalarResourceName: extended, huge-page, prefixed native and attachable-volume resources. */
function isScalarResource(name: string): boolean {
  if (COUNTED_APART.has(name)) {
    return false;
  }
  const isExtended = name.includes('/') && !name.startsWith('requests.');
  return isExtended || isHugePages(name) || name.includes('kubernetes.io/') || name.startsWith('attachable-volumes-');
}

/** Whether a resource is huge pages of some size. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-');
}

/** Pod slots in `amounts`. */
export function podSlots(amounts: ReadonlyMap<string, bigint>): number {
  return toCount(decimal(amounts.get('pods')));
}

/** Bytes of `storage` in the resource list at `key`, rounded up; 0 when absent. Throws MalformedField. */
export function readSize(parent: JsonObject, key: string, field: string, interner: Interner): Bytes {
  return toBytes(decimal(readAmounts(parent, key, field, interner).get('storage')));
}

function decimal(nano: bigint | undefined): Quantity {
  return { nano: nano ?? 0n, format: 'DecimalSI' };
}
