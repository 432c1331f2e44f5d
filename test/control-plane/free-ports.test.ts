import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { claimPorts } from './free-ports.ts';

it('never hands out a port twice, before anybody listens on it', async () => {
  const claims = await Promise.all(Array.from({ length: 40 }, () => claimPorts(7)));
  const ports = claims.flatMap((claim) => claim.ports);
  expect(ports).toHaveLength(280);
  expect(new Set(ports).size).toBe(280);
  for (const claim of claims) {
    claim.release();
  }
});

it('hands out ports that can be listened on', async () => {
  const claim = await claimPorts(3);
  for (const port of claim.ports) {
    const server = createServer();
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    await new Promise((resolve) => server.close(resolve));
  }
  claim.release();
});
