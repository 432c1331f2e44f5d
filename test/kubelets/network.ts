import { execFileSync, spawnSync } from 'node:child_process';

const BRIDGE = 'nodes';

/** Set in a process that has a network of its own. */
const OWN_NETWORK = 'EVENKEEL_OWN_NETWORK';

/**
 * Runs this program again in a network namespace of its own, with nothing in it but a loopback interface, and ends with its exit
 * code; returns at once in the program that runs there. Nodes cannot reach anything then, nor be reached.
 */
export function enterOwnNetwork(): void {
  if (process.env[OWN_NETWORK] === undefined) {
    const args = ['--net', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
    const { status } = spawnSync('unshare', args, { stdio: 'inherit', env: { ...process.env, [OWN_NETWORK]: '1' } });
    process.exit(status ?? 1);
  }
  ip('link', 'set', 'lo', 'up');
  ip('link', 'add', BRIDGE, 'type', 'bridge');
  ip('link', 'set', BRIDGE, 'up');
  ip('addr', 'add', '10.88.0.1/24', 'dev', BRIDGE);
  // It leads nowhere: an API server looks for its own address by the default route.
  ip('route', 'add', 'default', 'dev', BRIDGE);
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args);
}

/** Gives each node an address, on one bridge. A kubelet refuses addresses of the loopback. */
export function createNodeAddresses(count: number): readonly string[] {
  const addresses = Array.from({ length: count }, (_, place) => `10.88.0.${place + 11}`);
  for (const address of addresses) {
    ip('addr', 'add', `${address}/24`, 'dev', BRIDGE);
  }
  return addresses;
}
