import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../control-plane/start.ts';
import { waitUntil } from '../control-plane/wait-until.ts';

/** A node with a kubelet. */
export interface RealNode {
  readonly name: string;
  /** The machine is gone from one moment to the next. */
  kill(): Promise<void>;
}

/** What a node is made of. */
export interface NodeOptions {
  /** From 1 on. */
  readonly number: number;
  readonly address: string;
  /** What its pods may use together. */
  readonly millicores: number;
  /** Folder with the kubelet. */
  readonly programs: string;
  /** Folder with images as tar files. */
  readonly images: string;
}

/** Starts a node, and waits until it is Ready. Rejects with the end of its log when it is not within a minute. */
export async function startNode(cp: ControlPlane, options: NodeOptions): Promise<RealNode> {
  const { number, address, millicores, programs, images } = options;
  const name = `real-${number}`;
  const folder = join(cp.dir, name);
  mkdirSync(folder);
  cpSync(images, join(folder, 'images'), { recursive: true });
  const kubeconfig = cp.kubeconfigAs(`system:node:${name}`, 'system:nodes');
  const args = [programs, folder, String(number), kubeconfig, address, String(millicores)];
  const log = openSync(join(folder, 'node.log'), 'a');
  const child = spawn(join(import.meta.dirname, 'node.sh'), args, { stdio: ['ignore', log, log] });
  process.once('exit', () => child.kill('SIGKILL'));
  await waitUntil(
    `${name} is Ready`,
    async () => {
      const path = '-o=jsonpath={.status.conditions[?(@.type=="Ready")].status}';
      const ready = await cp.kubectl(['get', 'node', name, '--ignore-not-found', path]);
      return ready.trim() === 'True' ? undefined : tail(folder);
    },
    { timeoutMilliseconds: 60_000 },
  );
  return { name, kill: () => kill(child, folder) };
}

/** Removes the control groups, too, which only empty when all processes have gone. */
async function kill(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  for (const group of readFileSync(join(folder, 'groups'), 'utf8').trim().split('\n')) {
    await removeGroup(group);
  }
}

async function removeGroup(group: string): Promise<void> {
  if (!existsSync(group)) {
    return;
  }
  for (const entry of readdirSync(group, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      await removeGroup(join(group, entry.name));
    }
  }
  for (let patience = 50; patience > 0; patience -= 1) {
    try {
      rmdirSync(group);
      return;
    } catch (error) {
      if (patience === 1) {
        throw error;
      }
      await sleep(100);
    }
  }
}

function tail(folder: string): string {
  return ['node.log', 'import.log', 'containerd.log', 'kubelet.log']
    .map((file) => join(folder, file))
    .filter((file) => existsSync(file))
    .map((file) => `${file}: ${readFileSync(file, 'utf8').slice(-1500)}`)
    .join('\n');
}
