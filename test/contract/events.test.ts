import { afterEach, describe, expect, it } from 'vitest';
import { createEventSink } from '../../src/adapters/kubernetes/events.ts';
import type { EventRecord } from '../../src/ports.ts';
import { HIDDEN, PAYLOADS } from '../support/hostile-text.ts';
import { clientOf, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

const POD: EventRecord['regarding'] = { kind: 'Pod', namespace: 'shop', name: 'web-1', uid: 'uid-web-1' };

function aboutPod(note: string): EventRecord {
  return { type: 'Normal', reason: 'MoveStarted', note, regarding: POD };
}

async function sinkOf(answer = json({}, 201)) {
  const server = await startFakeApiServer(answer);
  const client = clientOf(server.url);
  const lost: string[] = [];
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  const sink = createEventSink(client, { instance: 'evenkeel-0', report: (message) => lost.push(message) });
  const noteOf = (): unknown => (server.seen[0]?.body as { readonly note?: unknown } | undefined)?.note;
  return { sink, server, lost, noteOf };
}

describe('an event', () => {
  it.each(PAYLOADS)('has its note on one line, with nothing hidden: %s', async (_, text) => {
    const { sink, noteOf } = await sinkOf();
    await sink.send(aboutPod(`moves ${text} to node-b`), NEVER);
    expect(noteOf()).toMatch(/^moves .* to node-b$/);
    expect(noteOf()).not.toMatch(HIDDEN);
  });

  it('has a note of no more than the API takes, though escapes are longer than what they stand for', async () => {
    const { sink, noteOf } = await sinkOf();
    await sink.send(aboutPod('\u001b'.repeat(1024)), NEVER);
    expect(noteOf()).toMatch(/^(\\x1b)+.{0,3}\.\.\.$/);
    expect(String(noteOf())).toHaveLength(1024);
  });

  it('stands in the namespace of its pod, or in default', async () => {
    const { sink, server } = await sinkOf();
    await sink.send(aboutPod('x'), NEVER);
    expect(server.seen[0]).toMatchObject({
      path: '/apis/events.k8s.io/v1/namespaces/shop/events',
      body: { action: 'Move', regarding: { kind: 'Pod', namespace: 'shop', uid: 'uid-web-1' } },
    });
    const { sink: other, server: second } = await sinkOf();
    const regarding = { kind: 'RebalancePolicy', name: 'even', uid: 'uid-even' } as const;
    await other.send({ type: 'Normal', reason: 'PlanComputed', note: 'x', regarding }, NEVER);
    expect(second.seen[0]).toMatchObject({
      path: '/apis/events.k8s.io/v1/namespaces/default/events',
      body: { action: 'Plan', regarding: { apiVersion: 'evenkeel.dev/v1alpha1', kind: 'RebalancePolicy' } },
    });
  });

  it('that is lost is told, and stops nothing', async () => {
    const { sink, lost } = await sinkOf(status(403, {}));
    await sink.send(aboutPod('x'), NEVER);
    expect(lost).toHaveLength(1);
  });
});
