import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyMergePatch, mergePatchOf } from '../../../../src/report/page/merge-patch.ts';

const key = fc.oneof(fc.constantFrom('a', 'b', '1', '10', '__proto__', 'constructor', ''), fc.string());
const { object } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  value: fc.oneof(
    fc.string(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.array(fc.nat(3)),
    tie('object'),
  ),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}));

describe('a merge patch', () => {
  it('makes the one state of the other, through JSON', () => {
    fc.assert(
      fc.property(object, object, (one, other) => {
        const [before, after] = [JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other))];
        const patch = mergePatchOf(before, after);
        const sent = patch === undefined ? {} : JSON.parse(JSON.stringify(patch));
        expect(applyMergePatch(before, sent)).toEqual(after);
      }),
    );
  });

  it('is nothing between equal states', () => {
    fc.assert(
      fc.property(object, (state) => {
        expect(mergePatchOf(state, structuredClone(state))).toBeUndefined();
      }),
    );
  });

  it('names what changed and nothing else', () => {
    const before = { nodes: { a: { cpu: 0.1, memory: 0.2 }, b: { cpu: 0.3 } }, title: 'x' };
    const after = { nodes: { a: { cpu: 0.5, memory: 0.2 }, c: { cpu: 0.3 } }, title: 'x' };
    expect(mergePatchOf(before, after)).toEqual({ nodes: { a: { cpu: 0.5 }, b: null, c: { cpu: 0.3 } } });
  });

  it('leaves rows that it does not name the same objects', () => {
    const before = { nodes: { a: { cpu: 0.1 }, b: { cpu: 0.3 } } };
    const after = applyMergePatch(before, { nodes: { a: { cpu: 0.2 } } });
    expect(after.nodes.b).toBe(before.nodes.b);
    expect(after.nodes.a).not.toBe(before.nodes.a);
  });
});
