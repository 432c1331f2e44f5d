import { expect, it } from 'vitest';
import { kindOf } from '../../../src/model/move.ts';

it.each([
  [{ from: 'node-1', to: 'node-2' }, 'Transfer'],
  [{ from: 'node-1' }, 'Preemption'],
  [{ to: 'node-2' }, 'Admission'],
  [{ from: 'node-1', to: 'node-2', failover: true }, 'Failover'],
  [{ from: 'node-1', removal: true }, 'Removal'],
])('takes %j for a %s', (route, kind) => {
  expect(kindOf(route)).toBe(kind);
});
