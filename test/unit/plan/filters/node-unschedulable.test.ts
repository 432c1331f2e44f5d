import { describe, expect, it } from 'vitest';
import { nodeUnschedulable } from '../../../../src/plan/filters/node-unschedulable.ts';
import { aToleration } from '../../../support/builders/scheduling.ts';
import { aNode } from '../../../support/builders.ts';
import { aSubject } from './filters.ts';

describe('NodeUnschedulable', () => {
  const cordoned = aNode('a', { unschedulable: true });

  it('refuses a cordoned node', () => {
    expect(nodeUnschedulable(aSubject(), cordoned)).toEqual({ filter: 'NodeUnschedulable' });
  });

  it('lets pods run on other nodes', () => {
    expect(nodeUnschedulable(aSubject(), aNode('a'))).toBeUndefined();
  });

  it.each([
    { what: 'that taint', toleration: aToleration({ key: 'node.kubernetes.io/unschedulable' }), fits: true },
    { what: 'everything', toleration: aToleration(), fits: true },
    { what: 'only its NoExecute form', toleration: aToleration({ effect: 'NoExecute' }), fits: false },
    { what: 'another taint', toleration: aToleration({ key: 'gpu' }), fits: false },
  ])('asks whether the pod tolerates $what', ({ toleration, fits }) => {
    expect(nodeUnschedulable(aSubject({ tolerations: [toleration] }), cordoned) === undefined).toBe(fits);
  });
});
