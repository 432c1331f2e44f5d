import type { AppGraphSpec } from '../../api/v1alpha1/app-graph.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { formatProblem, validateResource } from '../../api/validate.ts';
import type { AppGraphInfo, GraphMember } from '../../model/app-graph.ts';
import { bitsPerSecond } from '../../model/bandwidth.ts';
import { type JsonObject, MalformedField } from '../../model/json.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';
import { readSelector } from './selector.ts';

/** What plans read of an AppGraph. */
export const APP_GRAPH_FIELDS: FieldMask = { metadata: METADATA_FIELDS, spec: true };

/** What an AppGraph says, defaults filled in. Throws MalformedField for whatever the API server would refuse. */
export function projectAppGraph(object: JsonObject): AppGraphInfo {
  const { namespace, name, uid } = readMetadata(object, 'AppGraph', 'Namespaced');
  const { metadata, spec: written } = object;
  const { value, problems } = validateResource({ apiVersion: API_VERSION, kind: 'AppGraph', metadata, spec: written });
  const [problem] = problems;
  if (problem !== undefined) {
    throw new MalformedField('AppGraph', formatProblem(problem));
  }
  const { spec } = value as { readonly spec: AppGraphSpec };
  return {
    namespace,
    name,
    uid,
    members: spec.members.map(memberOf),
    edges: spec.edges.map(({ from, to, bandwidth }) => ({ from, to, bandwidth: bitsPerSecond(bandwidth) })),
  };
}

function memberOf(member: AppGraphSpec['members'][number]): GraphMember {
  const { name, workload } = member;
  if (workload !== undefined) {
    return { name, workload: { kind: workload.kind, name: workload.name } };
  }
  const selector = readSelector(member, 'selector', 'spec.members');
  if (selector === undefined) {
    throw new MalformedField('spec.members', `${name} has neither workload nor selector: write one of them`);
  }
  return { name, selector };
}
