import { join } from 'node:path';
import { buildTools, type ToolModule } from '../../control-plane/go-programs.ts';

const peers: ToolModule = {
  title: 'the descheduler',
  folder: import.meta.dirname,
  cache: 'peers',
  programs: ['descheduler'],
  renamed: {},
  firstBuild: '2 to 3 minutes',
  flags: () => ['-trimpath', '-ldflags', '-s -w'],
};

/** The path of the descheduler, compiled on the first call and kept in the user's cache folder. Throws as `buildTools` does. */
export async function descheduler(log: (line: string) => void): Promise<string> {
  return join(await buildTools(peers, log), 'descheduler');
}
