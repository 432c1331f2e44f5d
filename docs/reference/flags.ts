import type { Argument, Command, Option } from 'commander';
import { buildProgram } from '../../src/cli/commands/index.ts';
import { screenOf } from '../../src/cli/screen.ts';

/** Every command with its arguments and flags as Markdown, as its --help has them. */
export function flagsReference(): string {
  const program = buildProgram({
    signal: new AbortController().signal,
    screen: screenOf(process.stdout, process.stderr),
    print: () => undefined,
  });
  const intro = `# Command line

Written by \`npm run generate\` from the commands themselves; \`evenkeel COMMAND --help\` says the same, with examples. Exit codes:
0 done, 1 error, 2 moves needed or something lost (with \`--exit-code\`), 3 a \`--fail-on\` gate failed, 4 what \`--exit-code\`,
\`--fail-on\` or a JUnit or SARIF report asks for is unknown.
`;
  return [intro, ...commandsOf(program, 'evenkeel').map(section)].join('\n');
}

interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

/** Commands that do something, those of groups by their whole name. */
function commandsOf(parent: Command, prefix: string): readonly NamedCommand[] {
  const visible = parent.createHelp().visibleCommands(parent);
  return visible.flatMap((command) => {
    if (command.name() === 'help') {
      return [];
    }
    const name = `${prefix} ${command.name()}`;
    return command.commands.length > 0 ? commandsOf(command, name) : [{ name, command }];
  });
}

function section({ name, command }: NamedCommand): string {
  const args = command.registeredArguments.map(usage).join(' ');
  const rows = [
    ...command.registeredArguments.map((argument) => `| \`${usage(argument)}\` | ${escaped(argument.description)} |`),
    ...command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => `| \`${option.flags}\` | ${meaningOf(option)} |`),
  ];
  const table = rows.length === 0 ? [] : [['| | |', '|---|---|', ...rows].join('\n')];
  return [`## ${[name, args].filter((part) => part !== '').join(' ')}`, `${command.description()}.`, ...table, ''].join(
    '\n\n',
  );
}

function usage(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function meaningOf({ description, argChoices, defaultValue, mandatory }: Option): string {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  const isTold =
    defaultValue !== undefined && defaultValue !== false && !(Array.isArray(defaultValue) && defaultValue.length === 0);
  const standard = isTold ? ` (default ${String(defaultValue)})` : '';
  return `${escaped(description)}${choices}${standard}${mandatory ? ' (required)' : ''}`;
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
