import { afterEach } from 'vitest';
import { lastLogs } from './operator-process.ts';

// What an operator did, or that it ended, is known only from its log, which goes with the control plane.
afterEach(({ task }) => {
  if (task.result?.state === 'fail') {
    process.stderr.write(`${task.name} failed\n${lastLogs().join('\n')}\n`);
  }
});
