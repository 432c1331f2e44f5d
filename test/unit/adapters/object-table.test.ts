import { describe, expect, it } from 'vitest';
import { createObjectTable, describeDiff, isEmpty } from '../../../src/adapters/kubernetes/object-table.ts';
import { compareVersions } from '../../../src/model/resource-version.ts';

const object = (uid: string, resourceVersion: string, name = 'a') => ({ metadata: { name, uid, resourceVersion } });
const none = { added: 0, updated: 0, removed: 0 };

/** A table of one object `a`, uid `one`, at version 5. */
function table() {
  const made = createObjectTable(() => undefined);
  made.apply('ADDED', object('one', '5'));
  return made;
}

function listed(objects: readonly unknown[], into = table()) {
  const draft = into.beginList();
  objects.forEach(draft.put);
  return { diff: draft.commit('5'), content: contentOf(into) };
}

function contentOf({ entries }: ReturnType<typeof table>): readonly string[] {
  return [...entries].map(([name, { uid, resourceVersion }]) => `${name} ${uid} ${resourceVersion}`);
}

it('is read with what was kept under its name before', () => {
  const befores: (string | undefined)[] = [];
  const made = createObjectTable<string>((read, before) => {
    befores.push(before);
    return (read as ReturnType<typeof object>).metadata.resourceVersion;
  });
  made.apply('ADDED', object('one', '5'));
  made.apply('MODIFIED', object('one', '6'));
  const draft = made.beginList();
  draft.put(object('one', '6'));
  draft.put(object('two', '7', 'b'));
  draft.restart();
  draft.put(object('one', '8'));
  draft.commit('8');
  made.apply('DELETED', object('one', '9'));
  made.apply('ADDED', object('three', '10'));
  expect(befores).toEqual([undefined, '5', undefined, '6', undefined]);
});

describe('an event', () => {
  it('that comes twice, or after a later one, changes nothing', () => {
    const made = table();
    expect(made.apply('ADDED', object('one', '5'))).toEqual(none);
    expect(made.apply('MODIFIED', object('one', '10'))).toEqual({ ...none, updated: 1 });
    expect(made.apply('MODIFIED', object('one', '9'))).toEqual(none);
    expect(made.apply('DELETED', object('one', '8'))).toEqual(none);
    expect(contentOf(made)).toEqual(['a one 10']);
  });

  it('from before a deletion does not bring the object back', () => {
    const made = table();
    expect(made.apply('DELETED', object('one', '7'))).toEqual({ ...none, removed: 1 });
    expect(made.apply('MODIFIED', object('one', '6'))).toEqual(none);
    expect(made.apply('DELETED', object('one', '7'))).toEqual(none);
    expect(contentOf(made)).toEqual([]);
  });

  it('from before a list that no longer has the object does not bring it back', () => {
    const made = table();
    made.beginList().commit('9');
    expect(made.apply('MODIFIED', object('one', '6'))).toEqual(none);
    expect(made.apply('ADDED', object('two', '10'))).toEqual({ ...none, added: 1 });
  });

  it('of an object that was made anew is a removal and an addition, even if its deletion never came', () => {
    const made = table();
    expect(made.apply('ADDED', object('two', '8'))).toEqual({ added: 1, updated: 0, removed: 1 });
    expect(made.apply('DELETED', object('one', '7'))).toEqual(none);
    expect(made.apply('MODIFIED', object('one', '6'))).toEqual(none);
    expect(contentOf(made)).toEqual(['a two 8']);
  });

  it('that deletes a later incarnation deletes the one that is known', () => {
    const made = table();
    expect(made.apply('DELETED', object('two', '9'))).toEqual({ ...none, removed: 1 });
  });

  it('of an unknown object adds it, or deletes nothing', () => {
    const made = table();
    expect(made.apply('DELETED', object('x', '6', 'x'))).toEqual(none);
    expect(made.apply('MODIFIED', object('y', '6', 'y'))).toEqual({ ...none, added: 1 });
  });

  it('with versions that cannot be compared counts unless it is the same, and deletes only its own UID', () => {
    const made = table();
    expect(made.apply('MODIFIED', object('one', 'x'))).toEqual({ ...none, updated: 1 });
    expect(made.apply('MODIFIED', object('one', 'x'))).toEqual(none);
    expect(made.apply('DELETED', object('two', 'y'))).toEqual(none);
    expect(made.apply('DELETED', object('one', 'y'))).toEqual({ ...none, removed: 1 });
  });

  it.each([null, 7, 'x', [], {}, { metadata: null }, { metadata: { name: 5 } }])('may be about %j', (what) => {
    const made = table();
    expect(made.apply('ADDED', what)).toEqual({ ...none, added: 1 });
    expect([...made.entries.keys()]).toEqual(['a', '(without a name)']);
  });

  it('may be about a name that is a word of the language', () => {
    const made = table();
    made.apply('ADDED', object('p', '6', '__proto__'));
    made.apply('ADDED', object('c', '6', 'constructor'));
    expect(contentOf(made)).toEqual(['a one 5', '__proto__ p 6', 'constructor c 6']);
  });

  it('from before thousands of deletions is forgotten in the end', () => {
    const made = createObjectTable(() => undefined);
    for (let index = 1; index <= 10_001; index += 1) {
      made.apply('DELETED', object('x', String(index), `n-${index}`));
    }
    expect(made.apply('ADDED', object('x', '1', 'n-10001'))).toEqual(none);
    expect(made.apply('ADDED', object('x', '1', 'n-1'))).toEqual({ ...none, added: 1 });
  });

  it('from before one of the last ten thousand deletions is remembered as such', () => {
    const made = createObjectTable(() => undefined);
    for (let index = 1; index <= 10_000; index += 1) {
      made.apply('DELETED', object('x', String(index), `n-${index}`));
    }
    expect(made.apply('ADDED', object('x', '1', 'n-1'))).toEqual(none);
    made.apply('DELETED', object('x', '10001', 'n-10001'));
    expect(made.apply('ADDED', object('x', '2', 'n-2'))).toEqual(none);
    expect(made.apply('ADDED', object('x', '1', 'n-1'))).toEqual({ ...none, added: 1 });
  });

  it('from before a deletion that was told of again is remembered longer than older ones', () => {
    const made = createObjectTable(() => undefined);
    for (let index = 1; index <= 10_000; index += 1) {
      made.apply('DELETED', object('x', String(index), `n-${index}`));
    }
    made.apply('DELETED', object('x', '10001', 'n-1'));
    made.apply('DELETED', object('x', '10002', 'n-10002'));
    expect(made.apply('ADDED', object('x', '10000', 'n-1'))).toEqual(none);
    expect(made.apply('ADDED', object('x', '10001', 'n-1'))).toEqual(none);
    expect(made.apply('ADDED', object('x', '2', 'n-2'))).toEqual({ ...none, added: 1 });
  });

  it.each<[string, (made: ReturnType<typeof table>) => void]>([
    [
      'came back',
      (made) => {
        made.apply('DELETED', object('x', '2', 'back'));
        made.apply('ADDED', object('y', '3', 'back'));
      },
    ],
    [
      'was told late to be deleted, and made anew before',
      (made) => {
        made.apply('ADDED', object('y', '3', 'back'));
        made.apply('DELETED', object('x', '2', 'back'));
      },
    ],
  ])('that tells of an object that %s takes no place among deletions', (_, come) => {
    const made = createObjectTable(() => undefined);
    made.apply('DELETED', object('x', '1', 'n-1'));
    come(made);
    for (let index = 2; index <= 10_000; index += 1) {
      made.apply('DELETED', object('x', String(index), `n-${index}`));
    }
    expect(made.apply('ADDED', object('x', '1', 'n-1'))).toEqual(none);
    expect([...made.entries.keys()]).toEqual(['back']);
  });

  it('from before a deletion counts after a list of before it, as of a restored backup', () => {
    const made = table();
    made.apply('DELETED', object('one', '9'));
    made.beginList().commit('5');
    expect(made.apply('ADDED', object('one', '6'))).toEqual({ ...none, added: 1 });
  });

  it('from after a deletion brings the object back, and one from before that deletion is forgotten with it', () => {
    const made = table();
    made.apply('DELETED', object('one', '7'));
    expect(made.apply('ADDED', object('two', '8'))).toEqual({ ...none, added: 1 });
    expect(made.apply('DELETED', object('one', '7'))).toEqual(none);
    expect(contentOf(made)).toEqual(['a two 8']);
  });
});

it.each([
  [none, true, '0 added, 0 updated, 0 removed'],
  [{ ...none, added: 1 }, false, '1 added, 0 updated, 0 removed'],
  [{ ...none, updated: 2 }, false, '0 added, 2 updated, 0 removed'],
  [{ ...none, removed: 3 }, false, '0 added, 0 updated, 3 removed'],
])('a difference of %j changes nothing: %s', (diff, nothing, text) => {
  expect([isEmpty(diff), describeDiff(diff)]).toEqual([nothing, text]);
});

describe('a list', () => {
  it('replaces everything, and says by UID what that changed', () => {
    const made = table();
    made.apply('ADDED', object('b', '5', 'b'));
    made.apply('ADDED', object('c', '5', 'c'));
    const { diff, content } = listed([object('two', '9'), object('b', '7', 'b'), object('d', '8', 'd')], made);
    expect(diff).toEqual({ added: 2, updated: 1, removed: 2 });
    expect(content).toEqual(['a two 9', 'b b 7', 'd d 8']);
  });

  it('counts even where it is older than what was known, as after a restored backup', () => {
    expect(listed([object('one', '3')])).toEqual({ diff: { ...none, updated: 1 }, content: ['a one 3'] });
  });

  it('reads only what has changed', () => {
    let read = 0;
    const made = createObjectTable(() => {
      read += 1;
    });
    made.apply('ADDED', object('one', '5'));
    const draft = made.beginList();
    draft.put(object('one', '5'));
    expect([read, draft.commit('5')]).toEqual([1, none]);
  });

  it('changes nothing until it is complete, and forgets what came before it began anew', () => {
    const made = table();
    const draft = made.beginList();
    draft.put(object('x', '9', 'x'));
    expect(contentOf(made)).toEqual(['a one 5']);
    draft.restart();
    draft.put(object('y', '9', 'y'));
    draft.commit('5');
    expect(contentOf(made)).toEqual(['y y 9']);
  });
});

it.each<[string, string, number | undefined]>([
  ['9', '10', -1],
  ['10', '9', 1],
  ['18446744073709551615', '18446744073709551616', -1],
  ['7', '7', 0],
  ['x', 'x', 0],
  ['x', '7', undefined],
  ['07', '7', undefined],
  ['', '7', undefined],
])('compares version %s with %s', (left, right, expected) => {
  const order = compareVersions(left, right);
  expect(order === undefined ? undefined : Math.sign(order)).toBe(expected);
});
