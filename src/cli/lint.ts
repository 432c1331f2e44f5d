import type { CommandResult } from './command.ts';
import { formatFileProblem, readResources } from './policy-file.ts';

/** `evenkeel lint FILE...`: every problem of every file; exit code 1 when there is one. */
export async function lintCommand(files: readonly string[]): Promise<CommandResult> {
  const read = await Promise.all(files.map((file) => readResources(file)));
  const problems = read.flatMap((file) => file.problems);
  const count = read.flatMap((file) => file.resources).length;
  return problems.length > 0
    ? { stdout: `${problems.map(formatFileProblem).join('\n')}\n`, exitCode: 1 }
    : { stdout: `${count} resources, no problems\n`, exitCode: 0 };
}
