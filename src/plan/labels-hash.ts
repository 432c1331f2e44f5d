import { createHash } from 'node:crypto';
import type { Labels } from '../model/selector.ts';
import { sortedEntries } from './order.ts';

/** 16 hexadecimal digits of SHA-256 over a pod's labels in the order of their keys: equal labels have equal hashes. */
export function labelsHash(labels: Labels): string {
  return createHash('sha256')
    .update(JSON.stringify(sortedEntries(labels)))
    .digest('hex')
    .slice(0, 16);
}
