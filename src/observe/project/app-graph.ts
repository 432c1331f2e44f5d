import type { AppGraphSpec } from '../../api/v1alpha1/app-graph.ts';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { trafficQuery } from '../../api/v1alpha1/traffic-queries.ts';
import { formatProblem, validateResource } from '../../api/validate.ts';
import type { AppGraphInfo, GraphEdge, GraphMember, Learning } from '../../model/app-graph.ts';
import { bitsPerSecond } from '../../model/bandwidth.ts';
import {
  integerAt,
  type JsonObject,
  MalformedField,
  nameAt,
  objectAt,
  objectsAt,
  timestampAt,
} from '../../model/json.ts';
import { isQuantityError, parseQuantity } from '../../model/quantity.ts';
import { type FieldMask, METADATA_FIELDS } from '../fields.ts';
import { readMetadata } from './metadata.ts';
import { readSelector } from './selector.ts';

/** What plans read of an AppGraph. */
export const APP_GRAPH_FIELDS: FieldMask = {
  metadata: METADATA_FIELDS,
  spec: true,
  status: { learntAt: true, edges: true, ignoredSamples: true },
};

/**
 * What an AppGraph says, defaults filled in; edges that are to be learnt are those of its status, until a server is asked.
 * Throws MalformedField for whatever the API server would refuse.
 */
export function projectAppGraph(object: JsonObject): AppGraphInfo {
  const { namespace, name, uid, object: own } = readMetadata(object, 'AppGraph', 'Namespaced');
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
    generation: integerAt(own, 'generation', 'metadata') ?? 0,
    members: spec.members.map(memberOf),
    ...trafficOf(spec, namespace, objectAt(object, 'status', '') ?? {}),
  };
}

function trafficOf(
  spec: AppGraphSpec,
  namespace: string,
  status: JsonObject,
): Pick<AppGraphInfo, 'edges' | 'query' | 'learning'> {
  const promql = trafficQuery(spec, namespace);
  if (spec.traffic === undefined || promql === undefined) {
    return { edges: (spec.edges ?? []).map(edgeOf) };
  }
  const { server } = spec.traffic;
  const at = timestampAt(status, 'learntAt', 'status');
  const learning: Learning =
    at === undefined
      ? { kind: 'Unknown', reason: 'NoSamples', message: `nothing was learnt from Prometheus server ${server} yet` }
      : { kind: 'Learnt', at, ignored: integerAt(status, 'ignoredSamples', 'status') ?? 0 };
  return { edges: at === undefined ? [] : learntEdges(spec, status), query: { server, promql }, learning };
}

/** The edges of the status between members that the spec still has. */
function learntEdges({ members }: AppGraphSpec, status: JsonObject): readonly GraphEdge[] {
  const names = new Set(members.map(({ name }) => name));
  return objectsAt(status, 'edges', 'status')
    .map((edge, index) => {
      const field = `status.edges[${index}]`;
      return edgeOf({
        from: nameAt(edge, 'from', field),
        to: nameAt(edge, 'to', field),
        bandwidth: quantityAt(edge, field),
      });
    })
    .filter(({ from, to }) => names.has(from) && names.has(to));
}

function quantityAt(edge: JsonObject, field: string): string {
  const text = nameAt(edge, 'bandwidth', field);
  const quantity = parseQuantity(text);
  if (isQuantityError(quantity)) {
    throw new MalformedField(`${field}.bandwidth`, quantity.error);
  }
  return text;
}

function edgeOf({ from, to, bandwidth }: NonNullable<AppGraphSpec['edges']>[number]): GraphEdge {
  return { from, to, bandwidth: bitsPerSecond(bandwidth) };
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
