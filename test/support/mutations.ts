import fc from 'fast-check';

/** One change to a JSON value, at a place that `path` walks to by the indexes of keys and items. */
interface Edit {
  readonly path: readonly number[];
  readonly change:
    | { readonly kind: 'replace'; readonly value: unknown }
    | { readonly kind: 'delete' }
    | { readonly kind: 'rename'; readonly key: string }
    | { readonly kind: 'wrap' }
    | { readonly kind: 'repeat' }
    | { readonly kind: 'nest'; readonly depth: number };
}

/** Keys and names that JavaScript knows something about, and some that break layouts. */
export const HOSTILE_NAMES: readonly string[] = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'length',
  'then',
  '',
  ' ',
  '/',
  '..',
  '\u0000',
  'a\nb',
  '\u001b[31m',
  '\ud800',
  '\u202e',
  'x'.repeat(400),
];

/** Values that are wrong nearly everywhere: of the wrong type, too large, no number, negative, or text that looks like one. */
const HOSTILE_VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  -(2 ** 63),
  Number.NaN,
  Number.POSITIVE_INFINITY,
  [],
  {},
  [[]],
  [null],
  { '': null },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  JSON.parse('{"constructor": {"prototype": {"polluted": true}}}'),
  'NaN',
  'Infinity',
  '-1',
  '-500m',
  '0',
  '-0',
  '1e400',
  '1e-400',
  '1e18',
  '9'.repeat(300),
  '0.'.padEnd(300, '9'),
  '1Ei',
  '9999999999Ei',
  '1.5Gi',
  '1Zi',
  '1m1',
  '0x10',
  '１',
  '100%',
  '-1%',
  '1e9%',
  '90s',
  '-90s',
  '999999h',
  '9999999999999999999s',
  '2026-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-02-31T99:99:99Z',
  '* * * * *',
  '99 * * * *',
  '0 0 31 2 *',
  'In',
  'Exists',
  'NoExecute',
  'zone',
  ...HOSTILE_NAMES,
];

/** Values that are right in some places. */
const PLAUSIBLE_VALUES: readonly unknown[] = [
  ...[0, 1, 2, 3, 100, 1000, true, false, {}, []],
  ...['0', '1', '0.5', '0.000001', '1.000000', '10.0', '0s', '10s', '1m', '1h30m', '24h', '168h', '0%', '25%', '100%'],
  ...['None', 'Allow', 'DryRun', 'Dominant', 'Requests', 'memory', 'GreedyLB', 'RefineLB', '*/5 * * * *', 'Etc/UTC'],
  ...['a', 'node-1', 'True', 'False', 'Unknown', 'Running', 'Pending', '100m', '1Gi', '128Mi', 'NotIn', 'Equal'],
];

const value = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PLAUSIBLE_VALUES) },
  { weight: 6, arbitrary: fc.constantFrom(...HOSTILE_VALUES) },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const edit: fc.Arbitrary<Edit> = fc.record({
  path: fc.array(fc.nat(23), { minLength: 1, maxLength: 9 }),
  change: fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('replace' as const), value }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'delete' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('rename' as const), key: fc.constantFrom(...HOSTILE_NAMES) }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'wrap' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'repeat' as const }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('nest' as const), depth: fc.constantFrom(2, 50, 20_000) }),
    },
  ),
});

/** How to spoil one of some values: a recipe, since fast-check cannot print what is nested too deeply. */
export interface Mutation {
  /** Place of the original. */
  readonly original: number;
  readonly edits: readonly Edit[];
}

/** Recipes with one to four changes to one of so many originals, anywhere inside of it. */
export function mutations(originals: number): fc.Arbitrary<Mutation> {
  return fc.record({
    original: fc.nat(originals - 1),
    edits: fc.array(edit, { minLength: 1, maxLength: 4, size: 'small' }),
  });
}

/** What the recipe makes; the originals stay as they are. */
export function mutate(originals: readonly unknown[], { original, edits }: Mutation): unknown {
  const copy: unknown = structuredClone(originals[original]);
  for (const { path, change } of edits) {
    apply(copy, path, change);
  }
  return copy;
}

function apply(target: unknown, path: readonly number[], change: Edit['change']): void {
  if (typeof target !== 'object' || target === null) {
    return;
  }
  const keys = Object.keys(target);
  const key = keys[(path[0] ?? 0) % Math.max(1, keys.length)];
  if (key === undefined) {
    return;
  }
  const child: unknown = Reflect.get(target, key);
  const deeper = path.length > 1 && typeof child === 'object' && child !== null && Object.keys(child).length > 0;
  if (deeper) {
    apply(child, path.slice(1), change);
  } else {
    changeAt(target, key, child, change);
  }
}

function changeAt(target: object, key: string, child: unknown, change: Edit['change']): void {
  switch (change.kind) {
    case 'replace':
      set(target, key, structuredClone(change.value));
      break;
    case 'delete':
      if (Array.isArray(target)) {
        target.splice(Number(key), 1);
      } else {
        Reflect.deleteProperty(target, key);
      }
      break;
    case 'rename':
      // Items of a list have no name in JSON.
      if (!Array.isArray(target)) {
        Reflect.deleteProperty(target, key);
        set(target, change.key, child);
      }
      break;
    case 'wrap':
      set(target, key, [child]);
      break;
    case 'repeat':
      set(target, key, [child, child, child]);
      break;
    case 'nest':
      set(target, key, nested(change.depth));
      break;
    default:
      change satisfies never;
  }
}

/** As JSON.parse sets it: __proto__ is a key like any other. */
function set(target: object, key: string, content: unknown): void {
  Object.defineProperty(target, key, { value: content, writable: true, enumerable: true, configurable: true });
}

function nested(depth: number): unknown {
  let inner: unknown = [];
  for (let level = 1; level < depth; level += 1) {
    inner = level % 2 === 0 ? [inner] : { a: inner };
  }
  return inner;
}

/** Where there is a number that is none, as paths; to be empty for whatever was computed. */
export function wrongNumbers(found: unknown, path = ''): readonly string[] {
  if (typeof found === 'number') {
    return Number.isNaN(found) ? [path] : [];
  }
  if (typeof found !== 'object' || found === null) {
    return [];
  }
  const entries: Iterable<readonly [unknown, unknown]> =
    found instanceof Map ? found : found instanceof Set ? [] : Object.entries(found);
  return [...entries].flatMap(([key, inner]) => wrongNumbers(inner, `${path}.${String(key)}`));
}
