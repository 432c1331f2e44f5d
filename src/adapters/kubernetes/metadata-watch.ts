import type { ApiClient } from './client.ts';
import { type Diff, describeDiff } from './object-table.ts';
import { type Reflection, Reflector } from './reflector.ts';
import type { ResourceRef } from './resource.ts';

/**
 * Calls `changed` after every change of a resource. Only metadata is sent: nobody reads the objects here. `report` hears of
 * watches that failed; they are begun anew all the same.
 */
export function followMetadata(
  client: ApiClient,
  target: ResourceRef,
  changed: () => void,
  report: (error: unknown) => void,
): Reflection<undefined> {
  const drifted = (diff: Diff) => report(new Error(`${target.resource} had drifted: ${describeDiff(diff)}`));
  const handler = { read: () => undefined, changed, failed: report, drifted };
  return new Reflector(client, { target, metadataOnly: true }).handle(handler);
}
