import { join } from 'node:path';
import { buildTools, type ToolModule } from '../control-plane/go-programs.ts';

/** The programs that go.mod of this folder pins, by the names of their binaries. */
const programs = ['actionlint', 'helm', 'kustomize'] as const;

/** The name of one of the programs. */
type ToolName = (typeof programs)[number];

/** The tools of people who release and install Evenkeel. */
export interface Tools {
  /** The path of a program. */
  bin(name: ToolName): string;
}

const tools: ToolModule = {
  title: 'actionlint, helm and kustomize',
  folder: import.meta.dirname,
  cache: 'tools',
  programs,
  renamed: {},
  firstBuild: 'about three minutes',
  flags: () => ['-trimpath', '-buildvcs=false', '-ldflags', '-s -w'],
};

/** The tools, compiled from the modules pinned in go.mod and kept in the user's cache folder. Throws as `buildTools` does. */
export async function buildInstallTools(log: (line: string) => void): Promise<Tools> {
  const folder = await buildTools(tools, log);
  return { bin: (name) => join(folder, name) };
}
