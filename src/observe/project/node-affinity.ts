import { asObject, type JsonObject, MalformedField, objectAt, objectsAt } from '../../model/json.ts';
import type { NodeSelectorTerm, PreferredNodeTerm } from '../../model/node.ts';
import type { UnsupportedConstraint } from '../../model/pod.ts';
import { readNodeRequirements } from './selector.ts';
import { readWeight } from './weight.ts';

const FIELD = 'spec.affinity.nodeAffinity';
const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

interface NodeAffinity {
  readonly required: readonly NodeSelectorTerm[] | undefined;
  readonly preferred: readonly PreferredNodeTerm[];
}

/** Node affinity in `spec.affinity`. What it says and we cannot read goes to `unsupported`. Throws MalformedField. */
export function readNodeAffinity(affinity: JsonObject, unsupported: UnsupportedConstraint[]): NodeAffinity {
  const nodeAffinity = objectAt(affinity, 'nodeAffinity', 'spec.affinity') ?? {};
  const required = objectAt(nodeAffinity, REQUIRED, FIELD);
  return {
    required:
      required === undefined
        ? undefined
        : readable(unsupported, () => readNodeSelectorTerms(required, `${FIELD}.${REQUIRED}`)),
    preferred: readable(unsupported, () => readPreferred(nodeAffinity)),
  };
}

function readPreferred(nodeAffinity: JsonObject): readonly PreferredNodeTerm[] {
  return objectsAt(nodeAffinity, PREFERRED, FIELD).map((weighted, index) => {
    const field = `${FIELD}.${PREFERRED}[${index}]`;
    const preference = asObject(weighted.preference ?? {}, `${field}.preference`);
    return { weight: readWeight(weighted, field), term: readNodeSelectorTerm(preference, `${field}.preference`) };
  });
}

/** What `read` gives; nothing, and a word in `unsupported`, when it is malformed. */
function readable<Term>(unsupported: UnsupportedConstraint[], read: () => readonly Term[]): readonly Term[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof MalformedField) {
      unsupported.push({ filter: 'NodeAffinity', detail: error.message });
      return [];
    }
    throw error;
  }
}

/** The terms of a NodeSelector at path `field`. Throws MalformedField. */
export function readNodeSelectorTerms(selector: JsonObject, field: string): readonly NodeSelectorTerm[] {
  return objectsAt(selector, 'nodeSelectorTerms', field).map((term, index) =>
    readNodeSelectorTerm(term, `${field}.nodeSelectorTerms[${index}]`),
  );
}

function readNodeSelectorTerm(term: JsonObject, field: string): NodeSelectorTerm {
  const fields = readNodeRequirements(term, 'matchFields', field);
  for (const { key, operator, values } of fields) {
    if (key !== 'metadata.name' || (operator !== 'In' && operator !== 'NotIn') || values.length !== 1) {
      throw new MalformedField(
        `${field}.matchFields`,
        `${key} ${operator} with ${values.length} values is not supported`,
      );
    }
  }
  return { expressions: readNodeRequirements(term, 'matchExpressions', field), fields };
}
