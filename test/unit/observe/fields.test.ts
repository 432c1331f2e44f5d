import { describe, expect, it } from 'vitest';
import { type FieldMask, keepFields, withAnnotations } from '../../../src/observe/fields.ts';

describe('what is kept of an object', () => {
  const mask: FieldMask = { name: true, spec: { ports: [{ port: true }], size: true } };

  it('is what the mask names, at every level, and nothing else', () => {
    const object = {
      name: 'a',
      secret: 'x',
      spec: { size: 3, secret: 'x', ports: [{ port: 1, secret: 'x' }, { secret: 'x' }, { port: 2 }] },
    };
    expect(keepFields(object, mask)).toEqual({ name: 'a', spec: { size: 3, ports: [{ port: 1 }, {}, { port: 2 }] } });
  });

  it('is all below a field that is kept whole', () => {
    const spec = { deep: [{ deeper: { x: 1 } }] };
    expect(keepFields({ spec }, { spec: true })).toEqual({ spec });
  });

  it('has no field that is absent, null or only inherited, and has those that are empty', () => {
    const kept = keepFields({ name: null, spec: undefined }, mask);
    expect(Object.keys(kept as object)).toEqual([]);
    expect(keepFields(Object.create({ name: 'inherited' }), mask)).toEqual({});
    expect(keepFields({}, Object.fromEntries([['constructor', true]]))).toEqual({});
    expect(keepFields({ name: '', spec: { size: 0, ports: [] } }, mask)).toEqual({
      name: '',
      spec: { size: 0, ports: [] },
    });
  });

  it('is as it was where it has another shape than the mask', () => {
    expect(keepFields({ name: 1, spec: 'none' }, mask)).toEqual({ name: 1, spec: 'none' });
    expect(keepFields({ spec: { ports: { port: 1, secret: 'x' } } }, mask)).toEqual({
      spec: { ports: { port: 1, secret: 'x' } },
    });
    expect(keepFields({ spec: ['a'] }, mask)).toEqual({ spec: ['a'] });
    expect(keepFields(7, mask)).toBe(7);
  });

  it('are of the metadata those annotations that are named', () => {
    const metadata = { name: 'a', uid: 'u', managedFields: [{}], annotations: { kept: '1', other: '2' } };
    expect(keepFields(metadata, withAnnotations(['kept', 'absent']))).toEqual({
      name: 'a',
      uid: 'u',
      annotations: { kept: '1' },
    });
  });
});
