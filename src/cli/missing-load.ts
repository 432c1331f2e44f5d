import type { SnapshotFile } from '../app/cluster.ts';
import { escapeText } from '../model/escape.ts';
import { count } from '../plan/format.ts';

const NAMED = 3;

/** What a snapshot file lacks of the load and what follows, as a warning for standard error; empty when it lacks nothing. */
export function missingLoad({ metricsServed, nodes, unmeasured }: Omit<SnapshotFile, 'text'>): string {
  if (!metricsServed) {
    return 'warning: the Metrics API does not answer, so the snapshot has no load: plan -f finds no moves by it, except for policies with load.source: Requests. Install metrics-server and write the snapshot again\n';
  }
  if (unmeasured.length === 0) {
    return '';
  }
  const more = unmeasured.length > NAMED ? ` and ${unmeasured.length - NAMED} more` : '';
  const names = escapeText(unmeasured.slice(0, NAMED).join(', '));
  const verb = unmeasured.length === 1 ? 'has' : 'have';
  return `warning: ${unmeasured.length} of ${count(nodes, 'node')} ${verb} no metrics (${names}${more}): plan -f needs samples of as many nodes as load.minCoverage says, not counting nodes on which no pod runs\n`;
}
