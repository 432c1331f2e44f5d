import { isObject, type JsonObject, listAt, MalformedField, textAt } from '../../model/json.ts';
import { type Conversion, lost } from '../note.ts';
import { convertAppGroup } from './app-group.ts';
import { convertNetworkTopology } from './network-topology.ts';

const APP_GROUP = 'appgroup.diktyo.x-k8s.io/v1alpha1 AppGroup';
const NETWORK_TOPOLOGY = 'networktopology.diktyo.x-k8s.io/v1alpha1 NetworkTopology';

/** A resource, and the path before its fields: `[1].items[0].`. */
interface Found {
  readonly resource: JsonObject;
  readonly prefix: string;
}

/**
 * An AppGraph for each AppGroup of scheduler-plugins, and a RebalancePolicy for the NetworkTopology, alone or in lists as kubectl
 * writes them. Throws MalformedField, with the path and what to write, for documents that are neither.
 */
export function convertAppGroups(documents: readonly unknown[]): Conversion {
  const found = documents.flatMap((document, index) => expand(document, documents.length > 1 ? `[${index}].` : ''));
  const groups: Conversion[] = [];
  const topologies: Found[] = [];
  for (const { resource, prefix } of found) {
    const what = `${textAt(resource, 'apiVersion', prefix)} ${textAt(resource, 'kind', prefix)}`;
    if (what === APP_GROUP) {
      groups.push(convertAppGroup(resource, prefix));
    } else if (what === NETWORK_TOPOLOGY) {
      topologies.push({ resource, prefix });
    } else {
      throw new MalformedField(`${prefix}kind`, `is ${what}: write ${APP_GROUP} or ${NETWORK_TOPOLOGY}`);
    }
  }
  const [first, ...others] = topologies;
  const policies = first === undefined ? [] : [convertNetworkTopology(first.resource, first.prefix)];
  const all = [...groups, ...policies];
  return {
    resources: all.flatMap(({ resources }) => resources),
    notes: [
      ...all.flatMap(({ notes }) => notes),
      ...others.map(({ prefix }) =>
        lost(`${prefix}spec`, 'a pod has one policy: import this NetworkTopology by itself'),
      ),
    ],
  };
}

function expand(document: unknown, prefix: string): readonly Found[] {
  if (!isObject(document)) {
    throw new MalformedField(`${prefix}kind`, `is missing: write ${APP_GROUP} or ${NETWORK_TOPOLOGY}`);
  }
  return textAt(document, 'kind', prefix)?.endsWith('List') === true
    ? listAt(document, 'items', prefix).flatMap((item, place) => expand(item, `${prefix}items[${place}].`))
    : [{ resource: document, prefix }];
}
