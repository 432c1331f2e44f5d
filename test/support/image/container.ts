import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Image } from './build-image.ts';

/** A file that is mounted into a container. */
export interface MountedFile {
  readonly path: string;
  readonly content: string | Buffer;
  readonly mode: number;
  readonly group: number;
}

/** How to run a container. */
export interface ContainerOptions {
  readonly image: Image;
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** All of its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** `uid:gid`. */
  readonly user: string;
  readonly files: readonly MountedFile[];
  /** A folder for its mounts and its log. */
  readonly folder: string;
}

/** A process whose root is an image's. */
export interface Container {
  readonly process: ChildProcess;
  /** What it writes, both streams. */
  readonly logFile: string;
}

/**
 * Runs a command in the root file system of an image, which it can only read, with files mounted over it, as this user, with no
 * environment but the given one; in the network of this machine. A file's group stands for fsGroup. Needs root, as `buildImage`.
 */
export function startContainer(options: ContainerOptions): Container {
  const { image, command, environment, user, files, folder } = options;
  const own = mkdtempSync(join(folder, 'container-'));
  const [layer, root] = ['mounted', 'root'].map((name) => join(own, name)) as [string, string];
  for (const path of [layer, root]) {
    mkdirSync(path);
  }
  for (const file of files) {
    mount(layer, file);
  }
  const logFile = join(own, 'log');
  const script = [
    'set -eu',
    `mount -t overlay overlay -o lowerdir=${layer}:${image.root} ${root}`,
    `mount --rbind /dev ${root}/dev`,
    `mount --bind /proc ${root}/proc`,
    'exec /usr/bin/env -i "$@"',
  ].join('\n');
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const chroot = ['/usr/sbin/chroot', `--userspec=${user}`, root, ...command];
  const output = openSync(logFile, 'a');
  const child = spawn('/usr/bin/unshare', ['--mount', '--', '/bin/sh', '-c', script, 'sh', ...variables, ...chroot], {
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const killWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  return { process: child, logFile };
}

function mount(layer: string, { path, content, mode, group }: MountedFile): void {
  const target = join(layer, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
  chownSync(target, 0, group);
  chmodSync(target, mode);
}
