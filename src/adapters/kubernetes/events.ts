import type { EventsV1Event } from '@kubernetes/client-node';
import { API_VERSION } from '../../api/v1alpha1/schema.ts';
import { escapeText } from '../../model/escape.ts';
import type { EpochSeconds } from '../../model/units.ts';
import type { EventRecord, EventSink } from '../../ports.ts';
import { isApiError } from './api-error.ts';
import type { ApiClient } from './client.ts';
import { RESOURCES } from './resource.ts';
import type { SentJson } from './sent-json.ts';

/** Who reports our events. */
export const REPORTING_CONTROLLER = 'evenkeel.dev/operator';
const MAX_NOTE = 1024;
const MAX_INSTANCE = 128;

interface EventOptions {
  /** Name of the pod that the operator runs in, or of the host. */
  readonly instance: string;
  /** Hears of events that were lost. */
  readonly report: (message: string, event: EventRecord) => void;
}

/** Sends events of events.k8s.io; one that is lost is reported and forgotten. */
export function createEventSink(client: ApiClient, { instance, report }: EventOptions): EventSink {
  return {
    async send(event, signal) {
      const body = toEvent(event, instance, client.options.clock.now());
      const target = { ...RESOURCES.Event, namespace: body.metadata.namespace };
      try {
        await client.send({ verb: 'create', target, body }, signal);
      } catch (error) {
        if (isApiError(error)) {
          report(error.message, event);
        } else if (!signal.aborted) {
          throw error;
        }
      }
    },
  };
}

/** Events about cluster-scoped objects live in the namespace `default`. */
function toEvent(event: EventRecord, instance: string, now: EpochSeconds) {
  const { regarding } = event;
  const note = escapeText(event.note);
  const namespace = regarding.kind === 'Pod' ? regarding.namespace : 'default';
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace, generateName: `${regarding.name.slice(0, 200)}-` },
    eventTime: formatMicroTime(now),
    reportingController: REPORTING_CONTROLLER,
    reportingInstance: instance.slice(0, MAX_INSTANCE) || 'evenkeel',
    action: event.reason.startsWith('Move') ? 'Move' : 'Plan',
    reason: event.reason,
    type: event.type,
    note: note.length > MAX_NOTE ? `${note.slice(0, MAX_NOTE - 3)}...` : note,
    regarding: reference(regarding),
  } satisfies SentJson<EventsV1Event>;
}

function reference(regarding: EventRecord['regarding']) {
  const { kind, name, uid } = regarding;
  return regarding.kind === 'Pod'
    ? { apiVersion: 'v1', kind, namespace: regarding.namespace, name, uid }
    : { apiVersion: API_VERSION, kind, name, uid };
}

/** metav1.MicroTime: the API server refuses fewer than six decimals. */
export function formatMicroTime(instant: EpochSeconds): string {
  const micros = Math.floor((instant - Math.floor(instant)) * 1e6);
  return `${new Date(Math.floor(instant) * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`;
}
