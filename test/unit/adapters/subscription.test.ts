import { describe, expect, it } from 'vitest';
import { type Handler, Subscription, Subscriptions } from '../../../src/adapters/kubernetes/subscription.ts';
import type { WatchEvent } from '../../../src/adapters/kubernetes/watch.ts';
import { isObject } from '../../../src/model/json.ts';
import type { Part } from '../../../src/observe/kind-table.ts';

function anObject(name: string, version: number, fields: object = {}) {
  return { metadata: { name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: String(version) }, ...fields };
}

function anEvent(type: WatchEvent['type'], object: ReturnType<typeof anObject>): WatchEvent {
  return { type, object, resourceVersion: object.metadata.resourceVersion };
}

const KEPT: Part = { fieldSelector: 'kept=true', has: (object) => isObject(object) && object['kept'] === true };

/** A subscription, and what its handler has heard. */
function subscribed(part?: Part) {
  const heard: string[] = [];
  const handler: Handler<number> = {
    part,
    read: () => 0,
    removed: () => void heard.push('removed'),
    replaced: () => void heard.push('replaced'),
    changed: () => void heard.push('changed'),
    failed: (error) => void heard.push(`failed: ${error}`),
    drifted: () => void heard.push('drifted'),
  };
  const subscription = new Subscription(handler);
  const list = (...objects: readonly object[]) => {
    const draft = subscription.beginList();
    for (const object of objects) {
      draft.put(object);
    }
    return draft.commit('5');
  };
  /** What it has heard since it was asked last. */
  const news = () => heard.splice(0);
  return { subscription, list, news, names: () => [...subscription.entries.keys()].sort() };
}

const NOTHING = { added: 0, updated: 0, removed: 0 };

/** Whether it has resolved by now. */
function isResolved(promise: Promise<void>): Promise<boolean> {
  return Promise.race([promise.then(() => true), Promise.resolve().then(() => Promise.resolve(false))]);
}

describe('a subscription', () => {
  it('is filled by its first list, and after a distrust by the next one', async () => {
    const { subscription } = subscribed();
    const first = subscription.filled;
    subscription.distrusted();
    expect(subscription.filled).toBe(first);
    expect(await isResolved(first)).toBe(false);
    subscription.listed(NOTHING, false);
    expect(await isResolved(first)).toBe(true);
    expect(subscription.filled).toBe(first);
    subscription.distrusted();
    const next = subscription.filled;
    expect(await isResolved(next)).toBe(false);
    subscription.distrusted();
    expect(subscription.filled).toBe(next);
    subscription.listed(NOTHING, true);
    expect(await isResolved(next)).toBe(true);
  });

  it('tells of its first list, of one after a distrust, and else only of one that has changed something', () => {
    const { subscription, news } = subscribed();
    expect(subscription.isListed).toBe(false);
    subscription.listed(NOTHING, false);
    expect([subscription.isListed, news()]).toEqual([true, ['changed']]);
    subscription.listed(NOTHING, false);
    expect(news()).toEqual([]);
    subscription.listed(NOTHING, true);
    expect(news()).toEqual(['changed']);
    subscription.listed({ ...NOTHING, updated: 1 }, false);
    expect(news()).toEqual(['changed']);
    subscription.join();
    expect(subscription.isListed).toBe(false);
    subscription.listed(NOTHING, false);
    expect([subscription.isListed, news()]).toEqual([true, ['changed']]);
  });

  it('tells of an audit only what it has put right', () => {
    const { subscription, news } = subscribed();
    subscription.audited(NOTHING);
    expect(news()).toEqual([]);
    subscription.audited({ ...NOTHING, removed: 1 });
    expect(news()).toEqual(['drifted', 'changed']);
  });

  it('keeps what a list has of its part, and says that all was replaced', () => {
    const { list, news, names } = subscribed(KEPT);
    expect(list(anObject('a', 1, { kept: true }), anObject('b', 2))).toEqual({ ...NOTHING, added: 1 });
    expect([names(), news()]).toEqual([['shop/a'], ['replaced']]);
    expect(list(anObject('a', 1, { kept: true }))).toEqual(NOTHING);
    expect(news()).toEqual(['replaced']);
  });

  it('takes what leaves its part for deleted, but says of what was deleted alone that it was', () => {
    const { subscription, list, news, names } = subscribed(KEPT);
    list(anObject('a', 1, { kept: true }), anObject('c', 2, { kept: true }));
    news();
    subscription.take(anEvent('MODIFIED', anObject('a', 6)));
    expect([names(), news()]).toEqual([['shop/c'], ['changed']]);
    subscription.take(anEvent('ADDED', anObject('b', 7)));
    expect([names(), news()]).toEqual([['shop/c'], []]);
    subscription.take(anEvent('ADDED', anObject('d', 8, { kept: true })));
    expect([names(), news()]).toEqual([['shop/c', 'shop/d'], ['changed']]);
    subscription.take(anEvent('BOOKMARK', anObject('c', 9)));
    expect([names(), news()]).toEqual([['shop/c', 'shop/d'], []]);
    subscription.take(anEvent('DELETED', anObject('c', 10, { kept: true })));
    expect([names(), news()]).toEqual([['shop/d'], ['removed', 'changed']]);
    subscription.take(anEvent('DELETED', anObject('nobody', 11, { kept: true })));
    expect([names(), news()]).toEqual([['shop/d'], ['removed']]);
  });
});

describe('the subscriptions of a reflector', () => {
  it('wait for a list as long as one of them has none', () => {
    const [one, other] = [subscribed(), subscribed()];
    const all = new Subscriptions();
    expect([all.isEmpty, all.hasUnlisted]).toEqual([true, false]);
    all.add(one.subscription);
    expect([all.isEmpty, all.hasUnlisted]).toEqual([false, true]);
    one.subscription.listed(NOTHING, false);
    expect(all.hasUnlisted).toBe(false);
    all.add(other.subscription);
    expect(all.hasUnlisted).toBe(true);
    all.delete(other.subscription);
    expect(all.hasUnlisted).toBe(false);
    all.delete(one.subscription);
    all.add(one.subscription);
    expect(all.hasUnlisted).toBe(true);
  });

  it('ask for a part where all want the same one, else for everything', () => {
    const all = new Subscriptions();
    expect(all.query()).toEqual({});
    const [one, same, whole] = [subscribed(KEPT), subscribed(KEPT), subscribed()];
    all.add(one.subscription);
    all.add(same.subscription);
    expect(all.query()).toEqual({ fieldSelector: 'kept=true' });
    all.add(whole.subscription);
    expect(all.query()).toEqual({});
    all.delete(whole.subscription);
    const other = subscribed({ ...KEPT, fieldSelector: 'kept=other' });
    all.add(other.subscription);
    expect(all.query()).toEqual({});
  });

  it('give a list to all that were there when it began and are there when it ends', () => {
    const [one, leaving, late] = [subscribed(), subscribed(), subscribed()];
    const all = new Subscriptions();
    all.add(one.subscription);
    all.add(leaving.subscription);
    const draft = all.beginList();
    all.add(late.subscription);
    draft.item(anObject('a', 1), 100);
    draft.restart();
    draft.item(anObject('b', 2), 100);
    all.delete(leaving.subscription);
    expect(draft.commit('5')).toEqual([[one.subscription, { ...NOTHING, added: 1 }]]);
    expect([one.names(), leaving.names(), late.names()]).toEqual([['shop/b'], [], []]);
  });

  it('all hear of events, of failures and that what they have is wrong', () => {
    const [one, other, gone] = [subscribed(), subscribed(), subscribed()];
    const all = new Subscriptions();
    for (const { subscription } of [one, other, gone]) {
      all.add(subscription);
      subscription.listed(NOTHING, false);
    }
    all.delete(gone.subscription);
    const before = [one, other, gone].map(({ subscription, news }) => ({ filled: subscription.filled, told: news() }));
    all.take(anEvent('ADDED', anObject('a', 6)));
    all.failed('cut off');
    all.distrusted();
    for (const { names, news } of [one, other]) {
      expect([names(), news()]).toEqual([['shop/a'], ['changed', 'failed: cut off']]);
    }
    expect([gone.names(), gone.news()]).toEqual([[], []]);
    const isAsBefore = [one, other, gone].map(
      ({ subscription }, place) => subscription.filled === before[place]?.filled,
    );
    expect(isAsBefore).toEqual([false, false, true]);
  });
});
