import { join } from 'node:path';
import { buildTools, type ToolModule } from '../control-plane/go-programs.ts';

/** The programs that go.mod of this folder pins, by the names of their binaries. */
const programs = ['prometheus', 'promtool'] as const;

const monitoring: ToolModule = {
  title: 'Prometheus',
  folder: import.meta.dirname,
  cache: 'monitoring',
  programs,
  renamed: {},
  firstBuild: 'about four minutes',
  // Without the discovery of other clouds, which is most of the program.
  flags: () => ['-trimpath', '-buildvcs=false', '-tags', 'remove_all_sd', '-ldflags', '-s -w'],
};

/** The path of a program, compiled on the first call and kept in the user's cache folder. Throws as `buildTools` does. */
export async function monitoringProgram(
  name: (typeof programs)[number],
  log: (line: string) => void = (line) => void process.stderr.write(`${line}\n`),
): Promise<string> {
  return join(await buildTools(monitoring, log), name);
}
