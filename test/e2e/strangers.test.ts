import { describe, expect, it } from 'vitest';
import { runStrangerCampaign } from '../campaigns/strangers.ts';

describe('an operator that strangers crowd', () => {
  it('cuts off no probe and no scrape, and asks the API server for few reviews', async () => {
    const log = (line: string): void => void process.stderr.write(`${line}\n`);
    const report = await runStrangerCampaign({ seconds: 20, connections: 200, anonymous: 16, log });
    log(JSON.stringify(report));
    expect(report.probes).toMatchObject({ cutOff: 0, refused: 0 });
    expect(report.scrapes).toMatchObject({ cutOff: 0, refused: 0 });
    // How many are late depends on who else uses the processors: the campaign judges that, on a machine of its own.
    expect(report.probes.sent).toBeGreaterThan(10);
    expect(report.scrapes.sent).toBeGreaterThan(10);
    expect(report.anonymousRequests).toBeGreaterThan(100);
    expect(report.reviewsPerSecond).toBeLessThan(12);
  });
});
