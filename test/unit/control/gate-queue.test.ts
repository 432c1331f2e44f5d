import { describe, expect, it } from 'vitest';
import { createGateQueue, newsFor, type Queued } from '../../../src/control/gate-queue.ts';

const pod = (uid: string, owner = `owner of ${uid}`): Queued => ({ uid, owner });
const still = { room: 0, requests: 0, stranded: [] };

describe('the demand', () => {
  it('is news when somebody joins or leaves the queue, in whatever order it is told', () => {
    const demand = createGateQueue(() => still);
    const versions = ['', 'a', 'a b', 'b a', 'b', ''].map((queue) => {
      demand.tell(queue === '' ? [] : queue.split(' ').map((uid) => pod(uid)));
      return demand.news().room;
    });
    expect(versions).toEqual([0, 1, 2, 2, 3, 4]);
  });

  it('is news when room may have been freed, unless nobody waits for it', () => {
    let room = 0;
    const demand = createGateQueue(() => ({ room, requests: 0, stranded: [] }));
    demand.tell([pod('a')]);
    room = 1;
    demand.tell([pod('a')]);
    expect(demand.news().room).toBe(2);
    demand.tell([]);
    room = 2;
    demand.tell([]);
    expect(demand.news().room).toBe(3);
  });

  it('is news when pods go down with their nodes, and when there may be room for them', () => {
    let turnover = { room: 0, requests: 0, stranded: [] as readonly string[] };
    const demand = createGateQueue(() => turnover);
    const told = (next: Partial<typeof turnover>) => {
      turnover = { ...turnover, ...next };
      demand.tell([]);
      return demand.news();
    };
    expect(told({})).toEqual({ room: 0, requests: 0 });
    expect(told({ stranded: ['a', 'b'] })).toEqual({ room: 1, requests: 1 });
    expect(told({})).toEqual({ room: 1, requests: 1 });
    expect(told({ room: 1 })).toEqual({ room: 2, requests: 1 });
    expect(told({ stranded: ['b'] })).toEqual({ room: 3, requests: 1 });
    expect(told({ stranded: [] })).toEqual({ room: 4, requests: 1 });
    expect(told({ room: 2 })).toEqual({ room: 4, requests: 1 });
  });

  it('calls who listens', () => {
    const demand = createGateQueue(() => still);
    let heard = 0;
    demand.onNews(() => {
      heard += 1;
    });
    demand.tell([pod('a')]);
    demand.tell([pod('a')]);
    expect(heard).toBe(1);
  });
});

describe('requests', () => {
  it('are news when one of another controller waits, not when a pod waits in place of another', () => {
    const demand = createGateQueue(() => still);
    const queues = [
      [pod('a1', 'a')],
      [pod('a1', 'a'), pod('b1', 'b')],
      [pod('b1', 'b')],
      [pod('a2', 'a'), pod('b2', 'b')],
    ];
    const versions = queues.map((queue) => {
      demand.tell(queue);
      return demand.news().requests;
    });
    expect(versions).toEqual([1, 2, 2, 2]);
  });

  it('are news when one may have ended while others wait', () => {
    let requests = 0;
    const demand = createGateQueue(() => ({ room: 0, requests, stranded: [] }));
    demand.tell([pod('a')]);
    requests = 1;
    demand.tell([pod('a')]);
    demand.tell([pod('a')]);
    expect(demand.news().requests).toBe(2);
  });

  it('are no news when one has ended and nobody waits', () => {
    let requests = 0;
    const demand = createGateQueue(() => ({ room: 0, requests, stranded: [] }));
    requests = 1;
    demand.tell([]);
    expect(demand.news().requests).toBe(0);
  });

  it.each([
    ['are no news while their controller is one of ten thousand that waited last', 10_000, 1],
    ['are news again when ten thousand other controllers have waited since', 10_001, 2],
  ])('%s', (_, owners, news) => {
    const demand = createGateQueue(() => still);
    const queue = Array.from({ length: owners }, (_, place) => pod(`pod-${place}`));
    demand.tell(queue);
    demand.tell(queue.slice(0, 1));
    expect(demand.news().requests).toBe(news);
  });

  it('without a controller are each their own', () => {
    const demand = createGateQueue(() => still);
    demand.tell([{ uid: 'a', owner: undefined }]);
    demand.tell([{ uid: 'b', owner: undefined }]);
    expect(demand.news().requests).toBe(2);
  });
});

describe('news', () => {
  const news = { room: 7, requests: 3 };

  it('of whoever waits are for QoSDriven with its refinements', () => {
    expect(newsFor(news, { type: 'QoSDriven' })).toBe(7);
    expect(newsFor(news, { type: 'QoSDriven', qosDriven: { refinements: 'Standard' } })).toBe(7);
  });

  it('of requests are for QoSDriven as published', () => {
    expect(newsFor(news, { type: 'QoSDriven', qosDriven: { refinements: 'None' } })).toBe(3);
  });

  it('are for nobody else', () => {
    expect(newsFor(news, { type: 'RefineLB' })).toBeUndefined();
  });
});
