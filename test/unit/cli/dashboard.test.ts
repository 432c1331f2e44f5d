import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fourPods } from '../../support/builders/raw.ts';
import { BUNDLE } from '../../support/operator-process.ts';
import { policyObject } from '../../support/resources.ts';
import { runCli } from '../../support/run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'evenkeel-dashboard-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Four pods of one core on node a of two, and a policy that goes by requests. */
function snapshotFile(): string {
  const policy = policyObject('even', { load: { source: 'Requests' } });
  const path = join(folder, 'snapshot.json');
  const metadata = { annotations: { 'evenkeel.dev/taken-at': '2027-01-11T12:00:00Z' } };
  const items = [...fourPods(), policy];
  writeFileSync(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata, items }));
  return path;
}

describe('evenkeel dashboard', () => {
  it('serves the plan of a file on the loopback, by that name alone, until it is interrupted', async () => {
    const child = spawn(process.execPath, [BUNDLE, 'dashboard', '-f', snapshotFile(), '--port', '0']);
    const exited = once(child, 'exit');
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const url = line.toString().trim();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect(await (await fetch(url)).text()).toContain('<title>Evenkeel</title>');
    const state = (await (await fetch(`${url}page/state`)).json()) as { role: string; policies: object };
    expect(state).toMatchObject({ role: 'Files', basis: 'Requests', pods: 4 });
    expect(state.policies).toMatchObject({ even: { plan: { moves: { 0: { from: 'a', to: 'b' } } } } });
    child.kill('SIGINT');
    expect(await exited).toEqual([0, null]);
  });

  it.each([
    [['--address', '0.0.0.0'], 'write a loopback address such as 127.0.0.1'],
    [['--address', '10.0.0.1'], 'write a loopback address such as 127.0.0.1'],
    [['--port', 'http'], '--port http is not a port: write a number from 1 to 65535'],
    [['--port', '65536'], '--port 65536 is not a port'],
    [['-p', 'nowhere.yaml'], 'nowhere.yaml'],
    [['-p', 'odd'], 'RebalancePolicy odd'],
  ])('refuses %j', async (args, message) => {
    const { stdout, stderr, code } = await runCli(['dashboard', '-f', snapshotFile(), ...args]);
    expect([stdout, code]).toEqual(['', 1]);
    expect(stderr).toContain(message);
  });

  it('says when the port is taken, and what to write', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { stderr, code } = await runCli(['dashboard', '-f', snapshotFile(), '--port', String(port)]);
    other.close();
    expect([stderr, code]).toEqual([`error: port ${port} is taken: write --port 0 for any free one\n`, 1]);
  });
});
