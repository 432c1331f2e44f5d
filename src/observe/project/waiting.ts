import { SCHEDULING_GATE, type Waiting } from '../../model/gate.ts';
import { type JsonObject, objectsAt } from '../../model/json.ts';
import { readCondition } from './metadata.ts';

/** Whether a pod's spec, or that of a pod template, carries our scheduling gate. `field` is its path. Throws MalformedField. */
export function hasOurGate(spec: JsonObject, field: string): boolean {
  return objectsAt(spec, 'schedulingGates', field).some(({ name }) => name === SCHEDULING_GATE);
}

/** What an unbound pod waits for; `pinnedTo` is the planned node that it is kept to. Throws MalformedField. */
export function readWaiting(spec: JsonObject, status: JsonObject, pinnedTo: string | undefined): Waiting {
  const scheduled = readCondition(status, 'PodScheduled');
  return {
    gated: hasOurGate(spec, 'spec'),
    pinnedTo,
    unschedulable: scheduled?.isTrue === false && scheduled.reason === 'Unschedulable',
  };
}
