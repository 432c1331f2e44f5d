import { describe, expect, it } from 'vitest';
import { nodeName } from '../../../../src/plan/filters/node-name.ts';
import { aNode } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

describe('NodeName', () => {
  it('keeps a pod whose template names a node off every other node', () => {
    expect(nodeName(aSubject({}, 'a'), aNode('b'))).toEqual({ filter: 'NodeName', pinnedNode: 'a' });
    expect(nodeName(aSubject({}, 'a'), aNode('a'))).toBeUndefined();
  });

  it('lets a pod whose template names none run anywhere', () => {
    expect(nodeName(aSubject(), aNode('b'))).toBeUndefined();
  });
});
