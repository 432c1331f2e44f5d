import { afterEach, describe, expect, it } from 'vitest';
import { createEventSink } from '../../src/adapters/kubernetes/events.ts';
import { epochSeconds } from '../../src/model/units.ts';
import type { EventRecord } from '../../src/ports.ts';
import { HIDDEN, PAYLOADS } from '../support/hostile-text.ts';
import { clientOf, fastClock, json, NEVER, startFakeApiServer, status } from './fake-api-server.ts';

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

async function sinkOf(answer = json({}, 201), instance = 'evenkeel-0', options: Parameters<typeof clientOf>[1] = {}) {
  const server = await startFakeApiServer(answer);
  const client = clientOf(server.url, options);
  const lost: string[] = [];
  cleanups.push(
    () => client.close(),
    () => server.stop(),
  );
  const sink = createEventSink(client, { instance, report: (message) => lost.push(message) });
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

  it('says what happened to what, when, and who says so', async () => {
    const clock = { ...fastClock(), now: () => epochSeconds(1_767_225_600.25) };
    const { sink, server } = await sinkOf(json({}, 201), 'evenkeel-0', { clock });
    await sink.send({ ...aboutPod('moves to node-b'), type: 'Warning', reason: 'MoveFailed' }, NEVER);
    expect(server.seen[0]?.body).toEqual({
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'shop', generateName: 'web-1-' },
      eventTime: '2026-01-01T00:00:00.250000Z',
      reportingController: 'evenkeel.dev/operator',
      reportingInstance: 'evenkeel-0',
      action: 'Move',
      reason: 'MoveFailed',
      type: 'Warning',
      note: 'moves to node-b',
      regarding: { apiVersion: 'v1', ...POD },
    });
  });

  it.each([
    [1024, 'n'.repeat(1024)],
    [1025, `${'n'.repeat(1021)}...`],
  ])('has a note of %i characters as the API takes it', async (length, expected) => {
    const { sink, noteOf } = await sinkOf();
    await sink.send(aboutPod('n'.repeat(length)), NEVER);
    expect(noteOf()).toBe(expected);
  });

  it.each([
    ['', 'evenkeel'],
    ['i'.repeat(128), 'i'.repeat(128)],
    ['i'.repeat(129), 'i'.repeat(128)],
  ])('comes from an instance that the API takes: %s', async (instance, expected) => {
    const { sink, server } = await sinkOf(json({}, 201), instance);
    await sink.send(aboutPod('x'), NEVER);
    expect(server.seen[0]?.body).toMatchObject({ reportingInstance: expected });
  });

  it.each([
    [200, 200],
    [253, 200],
  ])('about a name of %i characters has %i of them in its own', async (length, expected) => {
    const { sink, server } = await sinkOf();
    await sink.send({ ...aboutPod('x'), regarding: { ...POD, name: 'p'.repeat(length) } }, NEVER);
    expect(server.seen[0]?.body).toMatchObject({
      metadata: { generateName: `${'p'.repeat(expected)}-` },
      regarding: { name: 'p'.repeat(length) },
    });
  });

  it('that is broken off is told to nobody; a failure that no server has caused is one', async () => {
    const fence = { assertOpen: (): never => expect.fail('closed') };
    const { sink, lost } = await sinkOf(json({}, 201), 'evenkeel-0', { fence });
    await expect(sink.send(aboutPod('x'), NEVER)).rejects.toThrow('closed');
    await sink.send(aboutPod('x'), AbortSignal.abort(new Error('enough')));
    expect(lost).toEqual([]);
  });
});
