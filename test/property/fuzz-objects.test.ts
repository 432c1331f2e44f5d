import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseObjects } from '../../src/adapters/snapshot-file/read-files.ts';
import { trimObject } from '../../src/adapters/snapshot-file/trim.ts';
import { InputError } from '../../src/model/input-error.ts';
import { isObject } from '../../src/model/json.ts';
import { seconds } from '../../src/model/units.ts';
import { SNAPSHOT_KINDS, type SnapshotKind } from '../../src/observe/kind-table.ts';
import { buildSnapshot, createSnapshotBuilder } from '../../src/observe/snapshot-builder.ts';
import type { PolicyOptions } from '../../src/plan/options.ts';
import { plan } from '../../src/plan/planner.ts';
import { greedyLb, refineLb, someOptions } from '../support/builders/options.ts';
import { aRawNode, aRawPod, aRawReplicaSet } from '../support/builders/raw.ts';
import { mutate, mutations, wrongNumbers } from '../support/mutations.ts';
import { RAW_KINDS } from '../support/raw-kinds.ts';

/** Three nodes, of which one carries four pods: there is always something to move. */
const GOOD = [
  aRawNode('n-1'),
  aRawNode('n-2'),
  aRawNode('n-3'),
  aRawReplicaSet('web', { spec: { replicas: 4 } }),
  ...['g-1', 'g-2', 'g-3', 'g-4'].flatMap((name) => [
    aRawPod(name, { spec: { nodeName: 'n-1' } }),
    {
      apiVersion: 'metrics.k8s.io/v1beta1',
      kind: 'PodMetrics',
      metadata: { name, namespace: 'shop' },
      timestamp: '2026-01-01T01:00:00Z',
      window: '20s',
      containers: [{ name: 'web', usage: { cpu: '500m', memory: '1Gi' } }],
    },
  ]),
  ...['n-1', 'n-2', 'n-3'].map((name, place) => ({
    apiVersion: 'metrics.k8s.io/v1beta1',
    kind: 'NodeMetrics',
    metadata: { name },
    timestamp: '2026-01-01T01:00:00Z',
    window: '20s',
    usage: { cpu: place === 0 ? '2100m' : '100m', memory: '4Gi' },
  })),
];
const TAKEN_AT = buildSnapshot(GOOD).takenAt;

const OPTIONS: readonly PolicyOptions[] = [refineLb(), greedyLb()].map((strategy) =>
  someOptions({
    strategy,
    load: { minCoverage: 0 },
    protections: { minPodAge: seconds(0), stabilization: seconds(0), cooldown: seconds(0) },
  }),
);

/** So many objects of one kind stand in a snapshot together, each with a name of its own. */
const BATCH = 50;

/** What an object of a kind is about, which then is there as often. */
const SUBJECTS: Partial<Record<SnapshotKind, SnapshotKind>> = {
  NodeMetrics: 'Node',
  CSINode: 'Node',
  PodMetrics: 'Pod',
};

function instances(kind: SnapshotKind): readonly unknown[] {
  const { metadata } = RAW_KINDS[kind];
  const named = isObject(metadata) ? metadata : {};
  return Array.from({ length: BATCH }, (_, index) => ({
    ...RAW_KINDS[kind],
    metadata: { ...named, name: `${named.name}-${index}`, uid: `${named.uid}-${index}` },
  }));
}

/** Projects the object alone: nothing is thrown, and what is amiss is said in few words that begin with its kind. */
function projectAlone(kind: SnapshotKind, object: unknown): 'reported' | 'accepted' {
  const builder = createSnapshotBuilder();
  builder.addAs(kind, object);
  if (kind === 'QoSLedger') {
    builder.addAs('ServiceClass', RAW_KINDS.ServiceClass);
  }
  const { problems, usage: _, ...rest } = builder.finish(TAKEN_AT);
  // Samples are judged by the planner, which says of each node why it takes no part.
  const wrong = [
    ...wrongNumbers(rest).map((path) => `${path} is NaN`),
    ...problems.filter((problem) => problem.length > 1500 || !problem.startsWith(kind)),
  ];
  if (wrong.length > 0) {
    throw new Error(wrong.join('\n'));
  }
  if (isObject(object)) {
    trimObject(kind, object);
  }
  return problems.length > 0 ? 'reported' : 'accepted';
}

/** Moves of a good cluster with objects of each other kind and these: nothing is thrown, and no number is NaN. */
function planWith(kind: SnapshotKind, objects: readonly unknown[], options: PolicyOptions): number {
  const builder = createSnapshotBuilder();
  for (const each of GOOD) {
    builder.add(each);
  }
  for (const other of SNAPSHOT_KINDS.filter((each) => each !== kind)) {
    for (const each of SUBJECTS[kind] === other ? instances(other) : [RAW_KINDS[other]]) {
      builder.addAs(other, each);
    }
  }
  for (const each of objects) {
    builder.addAs(kind, each);
  }
  const snapshot = builder.finish(TAKEN_AT);
  expect(snapshot.pods.filter(({ name }) => name.startsWith('g-'))).toHaveLength(4);
  const found = plan(snapshot, options);
  expect(wrongNumbers(found)).toEqual([]);
  return found.moves.length;
}

describe('10,000 objects with mistakes in them', () => {
  it.each(SNAPSHOT_KINDS)('of kind %s are each reported or used, and never stop a plan', (kind) => {
    const originals = instances(kind);
    const used: unknown[] = [];
    let reported = 0;
    fc.assert(
      fc.property(mutations(BATCH), (recipe) => {
        const object = mutate(originals, recipe);
        if (projectAlone(kind, object) === 'accepted') {
          used.push(object);
        } else {
          reported += 1;
        }
      }),
      { numRuns: 10_000 },
    );
    expect(reported).toBeGreaterThan(100);
    expect(used.length).toBeGreaterThan(100);
    // What is reported takes no part.
    let moves = 0;
    for (let start = 0; start < used.length; start += BATCH) {
      for (const options of OPTIONS) {
        moves += planWith(kind, used.slice(start, start + BATCH), options);
      }
    }
    expect(moves).toBeGreaterThan(0);
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('text with mistakes in it', () => {
  const text = [RAW_KINDS.Node, RAW_KINDS.PodDisruptionBudget].map((object) => JSON.stringify(object, undefined, 1));
  const slip = fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(40),
    change: fc.constantFrom(
      'drop',
      'repeat',
      '"',
      '\\',
      '{',
      ']',
      '\t',
      '\u0000',
      '\n---\n',
      '&a ',
      '*a',
      '<<: ',
      '!!js ',
    ),
  });

  function slipped(original: string, slips: readonly { at: number; length: number; change: string }[]): string {
    return slips.reduce((now, { at, length, change }) => {
      const place = Math.floor(at * now.length);
      const piece = now.slice(place, place + length);
      const middle = change === 'drop' ? '' : change === 'repeat' ? piece + piece : change + piece;
      return now.slice(0, place) + middle + now.slice(place + length);
    }, original);
  }

  /** What is wrong with the text, or with the objects in it. Throws what is no InputError. */
  function problemsOf(input: string): readonly string[] {
    try {
      return buildSnapshot(parseObjects(input, 'input.yaml')).problems;
    } catch (error) {
      if (error instanceof InputError) {
        return [error.message];
      }
      throw error;
    }
  }

  it('is an InputError of one line, or objects that are each reported or used', () => {
    fc.assert(
      fc.property(fc.constantFrom(...text), fc.array(slip, { minLength: 1, maxLength: 3 }), (original, slips) => {
        for (const problem of problemsOf(slipped(original, slips))) {
          expect(problem).toMatch(/^.{10,600}$/);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ['{"a": 1, "a": 2, "kind": "Node"}', /twice/],
    ['kind: Node\nkind: Pod\n', /twice/],
  ])('with duplicate keys is refused: %j', (duplicate, says) => {
    expect(() => parseObjects(duplicate, 'input.yaml')).toThrow(says);
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"kind":"List","items":[', ']}'],
    ['- ', ''],
    ['a: {', '}'],
    ['? ', ''],
  ])('nested too deeply by %j is refused or reported', (open, close) => {
    for (const depth of [100, 5_000, 100_000]) {
      const text = open.repeat(depth) + close.repeat(depth);
      const problems = problemsOf(text);
      // Lists in lists without an end hold nothing.
      expect(problems).toHaveLength(open.includes('List') ? 0 : 1);
      expect(problems.filter((problem) => !/^.{10,600}$/.test(problem))).toEqual([]);
    }
  });
});
