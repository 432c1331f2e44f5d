import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { execForm, type Instruction, pairs, parseDockerfile, type Stage } from './dockerfile.ts';

const run = promisify(execFile);

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The Dockerfile of the operator. */
export const DOCKERFILE: string = join(ROOT, 'deploy', 'Dockerfile');

/** What the Dockerfile's last stage came to. */
export interface Image {
  /** The folder with its root file system. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  /** `uid:gid`. */
  readonly user: string;
  readonly labels: Readonly<Record<string, string>>;
  remove(): void;
}

/** A stage while it is carried out. */
interface Running {
  readonly root: string;
  /** The layer with what the stage changed; the root itself for FROM scratch. */
  readonly changes: string;
  /** Shell commands that mount the root of the stage in a mount namespace of their own. */
  readonly mounts: readonly string[];
  readonly shell: readonly string[];
  readonly workdir: string;
  readonly user: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
}

/**
 * Carries out the instructions of the Dockerfile, without a container engine: RUN in a chroot, in which this machine's root (which
 * has to be a Debian, as the base image's) with the Node of package.json is overlaid with what the stage writes. `args` are those of
 * `--build-arg`. Needs root, for mounts; throws without, with the output of a command that fails, and for an instruction that it
 * does not know. The instructions' own text is what runs.
 */
export async function buildImage(args: Readonly<Record<string, string>>): Promise<Image> {
  if (process.getuid?.() !== 0) {
    throw new Error(
      'running the steps of deploy/Dockerfile needs root, for overlay mounts and chroot: run this test as root',
    );
  }
  const folder = mkdtempSync(join(tmpdir(), 'evenkeel-image-'));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const done = new Map<string, Running>();
    let last: Running | undefined;
    for (const [index, stage] of parseDockerfile(readFileSync(DOCKERFILE, 'utf8')).entries()) {
      last = await runStage(stage, join(folder, String(index)), done, args);
      done.set(stage.name ?? String(index), last);
    }
    if (last === undefined) {
      throw new Error('the Dockerfile has no stage');
    }
    const { root, entrypoint, command, user, labels } = last;
    return { root, entrypoint, command, user, labels, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function runStage(
  stage: Stage,
  folder: string,
  done: ReadonlyMap<string, Running>,
  args: Readonly<Record<string, string>>,
): Promise<Running> {
  let state = stage.from === 'scratch' ? scratch(folder) : onThisMachine(stage.from, folder);
  for (const instruction of stage.instructions) {
    state = await carryOut(instruction, state, done, args);
  }
  return state;
}

const EMPTY = {
  shell: ['/bin/sh', '-c'],
  workdir: '/',
  user: '0:0',
  environment: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' },
  labels: {},
  entrypoint: [],
  command: [],
} as const;

function scratch(folder: string): Running {
  mkdirSync(folder, { mode: 0o755 });
  chmodSync(folder, 0o755);
  return { ...EMPTY, root: folder, changes: folder, mounts: [] };
}

/** This machine's root stands for the base image's; the version of Node has to be that of the image. */
function onThisMachine(from: string, folder: string): Running {
  if (from !== `node:${process.versions.node}-bookworm-slim`) {
    throw new Error(
      `the Dockerfile starts from ${from}, and this is Node ${process.versions.node}: they should be the same`,
    );
  }
  const [upper, work, root] = ['upper', 'work', 'root'].map((name) => join(folder, name)) as [string, string, string];
  mkdirSync(join(upper, 'usr', 'local', 'bin'), { recursive: true });
  mkdirSync(work);
  mkdirSync(root);
  const mounts = [
    `mount -t overlay overlay -o lowerdir=/,upperdir=${upper},workdir=${work} ${root}`,
    `mount --rbind /dev ${root}/dev`,
    `mount --bind /proc ${root}/proc`,
    `touch ${root}/usr/local/bin/node`,
    `mount --bind ${process.execPath} ${root}/usr/local/bin/node`,
  ];
  return { ...EMPTY, root, changes: upper, mounts };
}

async function carryOut(
  instruction: Instruction,
  state: Running,
  done: ReadonlyMap<string, Running>,
  args: Readonly<Record<string, string>>,
): Promise<Running> {
  const { name, text } = instruction;
  switch (name) {
    case 'ARG': {
      const given = pairs(instruction).map(([key, value]) => [key, args[key] ?? value] as const);
      return { ...state, environment: { ...state.environment, ...Object.fromEntries(given) } };
    }
    case 'ENV':
      return { ...state, environment: { ...state.environment, ...Object.fromEntries(pairs(instruction)) } };
    case 'LABEL':
      return { ...state, labels: { ...state.labels, ...Object.fromEntries(pairs(instruction)) } };
    case 'SHELL':
      return { ...state, shell: execForm(instruction) };
    case 'WORKDIR':
      mkdirSync(join(state.changes, text), { recursive: true });
      return { ...state, workdir: resolve(state.workdir, text) };
    case 'USER':
      return { ...state, user: text };
    case 'ENTRYPOINT':
      return { ...state, entrypoint: execForm(instruction) };
    case 'CMD':
      return { ...state, command: execForm(instruction) };
    case 'COPY':
      await copy(text.split(/\s+/), state, done);
      return state;
    default:
      await shell(text, state);
      return state;
  }
}

/** A folder as source means what is in it. The target of a COPY is in the layer of its stage. */
async function copy(words: readonly string[], state: Running, done: ReadonlyMap<string, Running>): Promise<void> {
  const option = words.find((word) => word.startsWith('--from='));
  const from = option === undefined ? ROOT : done.get(option.slice('--from='.length))?.changes;
  const paths = words.filter((word) => word !== option);
  if (from === undefined || paths.some((word) => word.startsWith('--'))) {
    throw new Error(`COPY ${words.join(' ')}: there is no such stage, or these tests do not know the option`);
  }
  const destination = paths.at(-1) ?? '';
  const target = join(state.changes, resolve(state.workdir, destination));
  mkdirSync(destination.endsWith('/') ? target : dirname(target), { recursive: true });
  for (const source of paths.slice(0, -1)) {
    await run('cp', ['-a', '--no-preserve=ownership', '-T', ...copyArguments(join(from, source), target, destination)]);
  }
}

function copyArguments(source: string, target: string, destination: string): readonly string[] {
  const intoFolder = destination.endsWith('/') && destination !== '/';
  return [source, intoFolder ? join(target, source.slice(dirname(source).length)) : target];
}

/** RUN: in namespaces of its own, with the stage's environment and nothing of this process's but how to reach packages. */
async function shell(text: string, state: Running): Promise<void> {
  const proxies = Object.entries(process.env).filter(([key]) => /^npm_config_registry$|_proxy$/i.test(key));
  const variables = { HOME: '/root', ...Object.fromEntries(proxies), ...state.environment };
  const script = join(dirname(state.root), `run-${process.hrtime.bigint()}.sh`);
  const assignments = Object.entries(variables).map(([key, value]) => quote(`${key}=${value}`));
  // The shell of the stage does not know where its chroot began.
  const inside = `cd ${quote(state.workdir)} && exec "$@"`;
  const words = [...assignments, '/bin/sh', '-c', quote(inside), 'sh', ...state.shell.map(quote), quote(text)];
  writeFileSync(
    script,
    ['set -eu', ...state.mounts, `exec chroot ${state.root} /usr/bin/env -i ${words.join(' ')}`].join('\n'),
  );
  try {
    await run('/usr/bin/unshare', ['--mount', '--', '/bin/sh', script], { maxBuffer: 16 * 2 ** 20 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`RUN ${text}\nfailed:\n${stdout}${stderr}`, { cause: error });
  }
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
