import { type JsonObject, textEntriesAt } from '../../model/json.ts';
import type { Labels } from '../../model/selector.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import type { Interner } from '../interner.ts';
import { readMetadata } from './metadata.ts';

/** What plans read of a Namespace. */
export const NAMESPACE_FIELDS: FieldMask = { metadata: METADATA_FIELDS };

/** A namespace's name and labels, with the name label that the API server always sets. Throws MalformedField. */
export function projectNamespace(
  object: JsonObject,
  interner: Interner,
): { readonly name: string; readonly labels: Labels } {
  const { name, object: metadata } = readMetadata(object, 'Namespace', 'Cluster');
  const labels = new Map(textEntriesAt(metadata, 'labels', 'metadata')).set('kubernetes.io/metadata.name', name);
  return { name, labels: interner.labels([...labels].sort(([left], [right]) => (left < right ? -1 : 1))) };
}
