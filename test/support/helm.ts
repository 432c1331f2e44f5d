import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildInstallTools } from '../tools/build.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

/** The folder of the chart. */
export const CHART: string = join(DEPLOY, 'chart', 'evenkeel');

/**
 * Lines of client-go's log at the level of information. Helm 4 follows CRDs with a reflector, which tells so of a watch
 * that ended as helm did; warnings, those of the API server among them, begin with W, E or helm's own level.
 */
const INFORMATION = /^I\d{4} .*\n?/gm;

/** Runs helm; resolves to its standard output, rejects with what it wrote to standard error when it fails, or warns. */
export type Helm = (args: readonly string[]) => Promise<string>;

/** The real helm with nothing of this machine's configuration, on the cluster of a kubeconfig; none without. */
export async function helmFor(folder: string, kubeconfig = join(folder, 'no-kubeconfig')): Promise<Helm> {
  const tools = await buildInstallTools((line) => void process.stderr.write(`${line}\n`));
  const homes = Object.fromEntries(
    ['CACHE', 'CONFIG', 'DATA'].map((kind) => [`HELM_${kind}_HOME`, join(folder, kind)]),
  );
  const env = { ...process.env, ...homes, KUBECONFIG: kubeconfig };
  return async (args) => {
    const { stdout, stderr } = await promisify(execFile)(tools.bin('helm'), args, { env, maxBuffer: 64 * 2 ** 20 });
    const warnings = stderr.replace(INFORMATION, '').trim();
    if (warnings !== '') {
      throw new Error(`helm ${args.join(' ')} warns: ${warnings}`);
    }
    return stdout;
  };
}
