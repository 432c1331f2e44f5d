import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

/** Runs kubectl with some arguments and standard input, and returns its output. */
export type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

/** kubectl for one cluster; rejects with its stderr in the message when it fails. */
export function kubectlFor(binary: string, kubeconfig: string, cacheFolder: string): Kubectl {
  return async (args, input = '') => {
    const child = spawn(binary, [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cacheFolder}`, ...args]);
    child.stdin.on('error', () => undefined); // it may end without reading its input; its exit code tells why
    child.stdin.end(input);
    const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve(code ?? signal));
    });
    const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    if (code !== 0) {
      throw new Error(`kubectl ${args.join(' ')} ended with ${code}: ${errors.trim()}`);
    }
    return output;
  };
}
