import { existsSync, readFileSync, statSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { isObject, type JsonObject } from '../../model/json.ts';
import { ConnectError } from './connect-error.ts';

/** Environment variables that decide about the connection. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where kubectl looks for a kubeconfig: the flag, KUBECONFIG, then `~/.kube/config` where it exists. */
export function kubeconfigPaths(flag: string | undefined, env: Environment): readonly string[] {
  if (flag !== undefined) {
    return [resolve(flag)];
  }
  const listed = (env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (listed.length > 0) {
    const present = listed.filter((path) => existsSync(path));
    if (present.length === 0) {
      throw new ConnectError(`KUBECONFIG names ${listed.join(', ')}: there is no such file`);
    }
    return present;
  }
  const usual = join(env['HOME'] ?? env['USERPROFILE'] ?? '', '.kube', 'config');
  return isAbsolute(usual) && existsSync(usual) ? [usual] : [];
}

/** A kubeconfig file as JSON text with all its paths made absolute. Throws ConnectError that names the file. */
export function readKubeconfig(path: string): string {
  const content = parseFile(path);
  const folder = dirname(path);
  const users = Array.isArray(content.users) ? content.users.map((user: unknown) => adaptUser(user, folder)) : [];
  return JSON.stringify({ ...content, users });
}

/** Largest kubeconfig that is read, in bytes: one of a thousand clusters has five million. */
const MAX_BYTES = 10 * 2 ** 20;

function parseFile(path: string): JsonObject {
  let text: string;
  try {
    if (statSync(path).size > MAX_BYTES) {
      throw new ConnectError(`kubeconfig ${path}: is larger than 10 MiB: keep the contexts that you need`);
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof ConnectError) {
      throw error;
    }
    const why = existsSync(path) ? 'cannot be read' : 'there is no such file';
    throw new ConnectError(`kubeconfig ${path}: ${why}`, { cause: error });
  }
  try {
    const content: unknown = parse(text, { logLevel: 'error' });
    if (isObject(content)) {
      return content;
    }
  } catch (error) {
    throw new ConnectError(`kubeconfig ${path}: not valid YAML: ${String(error).split('\n')[0]}`, { cause: error });
  }
  throw new ConnectError(`kubeconfig ${path}: is not a kubeconfig: write apiVersion: v1 and kind: Config`);
}

/**
 * What client-node leaves out: it reads a token-file once and never again, and starts a plugin given by a relative path
 * in the wrong folder, without KUBERNETES_EXEC_INFO.
 */
function adaptUser(entry: unknown, folder: string): unknown {
  if (!isObject(entry) || !isObject(entry.user)) {
    return entry;
  }
  const user: Record<string, unknown> = { ...entry.user };
  const { tokenFile, exec } = { tokenFile: user['token-file'] ?? user['tokenFile'], exec: user['exec'] };
  if (typeof tokenFile === 'string' && tokenFile !== '') {
    delete user['token'];
    delete user['token-file'];
    user['auth-provider'] = { name: 'tokenFile', config: { tokenFile: absolute(tokenFile, folder) } };
  }
  if (isObject(exec) && typeof exec.command === 'string') {
    user['exec'] = adaptPlugin(exec, exec.command, folder);
  }
  return { ...entry, user };
}

function adaptPlugin(exec: JsonObject, command: string, folder: string): JsonObject {
  const info = { apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const env = Array.isArray(exec.env) ? exec.env : [];
  return {
    ...exec,
    command: /[\\/]/.test(command) ? absolute(command, folder) : command,
    args: Array.isArray(exec.args) ? exec.args : [],
    env: [...env, { name: 'KUBERNETES_EXEC_INFO', value: JSON.stringify(info) }],
  };
}

function absolute(path: string, folder: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}
