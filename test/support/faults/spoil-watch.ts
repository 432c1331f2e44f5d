import { Transform } from 'node:stream';
import type { Random } from '../random.ts';

/** Passes the lines of a watch on, and repeats or leaves out some until it is spared. */
export function spoilWatch(
  fault: 'DroppedEvents' | 'DuplicatedEvents',
  random: Random,
  isSpared: () => boolean,
): Transform {
  let rest = '';
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const isHit = !isSpared() && random.below(3) === 0;
        if (!isHit || fault === 'DuplicatedEvents') {
          this.push(`${line}\n`);
        }
        if (isHit && fault === 'DuplicatedEvents') {
          this.push(`${line}\n`);
        }
      }
      done();
    },
  });
}

/** How a watch says in its stream that its resourceVersion is too old (apiserver etcd3 watcher). */
export const GONE_EVENT = `${JSON.stringify({
  type: 'ERROR',
  object: {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'too old resource version: 1 (2)',
    reason: 'Expired',
    code: 410,
  },
})}\n`;
