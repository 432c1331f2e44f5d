import type { Command } from 'commander';
import type { Screen } from './screen.ts';

/** What a command prints, and its exit code. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr?: string;
  readonly exitCode: number;
}

/** What every command is given. */
export interface CommandContext {
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;
  /** Where output goes. */
  readonly screen: Screen;
  /** Takes what the command prints when it has ended, and its exit code. */
  readonly print: (result: CommandResult) => void;
}

/**
 * Declares one command: its flags, its help with examples, and its action, which imports what it needs only when it runs, so
 * that help and completion start fast.
 */
export type AddCommand = (program: Command, context: CommandContext) => void;
