import { describe, expect, it } from 'vitest';
import { createLedgerNews } from '../../../src/control/ledger-health.ts';
import { seconds } from '../../../src/model/units.ts';
import { aLedger, aServiceClass, serviceLevels } from '../../support/builders/service-levels.ts';

const levels = serviceLevels([aServiceClass()], [aLedger()]);

describe('the news of ledgers', () => {
  it('awaits the first look, however long ago the process was started', () => {
    const news = createLedgerNews();
    expect(news.health(seconds(1e6))).toEqual({ kind: 'Awaiting' });
    expect(news.levels().ledgers.size).toBe(0);
  });

  it('tells what the keeper has at the moment when it is asked', () => {
    const news = createLedgerNews();
    let current = serviceLevels([]);
    news.looked(seconds(0), () => current);
    current = levels;
    expect(news.health(seconds(1))).toEqual({ kind: 'Kept' });
    expect(news.levels()).toBe(levels);
  });

  it('forgives failures for two minutes, then says the last one with its cause', () => {
    const news = createLedgerNews();
    news.looked(seconds(100), () => levels);
    news.failed(seconds(200), new Error('2 ledgers could not be written', { cause: new Error('forbidden') }));
    expect(news.health(seconds(220))).toEqual({ kind: 'Kept' });
    expect(news.health(seconds(221))).toEqual({
      kind: 'Failing',
      why: '2 ledgers could not be written: forbidden',
    });
    expect(news.levels()).toBe(levels);
    news.looked(seconds(230), () => levels);
    expect(news.health(seconds(231))).toEqual({ kind: 'Kept' });
  });

  it('counts from the first failure where no look ever ended well, and notices a look that hangs', () => {
    const news = createLedgerNews();
    news.failed(seconds(500), 'no');
    news.failed(seconds(600), 'no');
    expect(news.health(seconds(620))).toEqual({ kind: 'Awaiting' });
    expect(news.health(seconds(621))).toEqual({ kind: 'Failing', why: 'no' });
    news.looked(seconds(622), () => levels);
    expect(news.health(seconds(800))).toEqual({ kind: 'Failing', why: 'no look at them has ended' });
  });
});
