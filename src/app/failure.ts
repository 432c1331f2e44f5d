/** A mistake of the user or of the surroundings: shown as one message, never as a stack trace. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** The message, or several. What else looks like the end of a line is part of a name or another text. */
  readonly lines: readonly string[];
  /** 1 error, 2 moves needed, 3 a gate failed, 4 input stale or incomplete. */
  readonly exitCode: number;

  constructor(message: string | readonly string[], exitCode = 1, options?: ErrorOptions) {
    const lines = typeof message === 'string' ? [message] : message;
    super(lines.join('\n'), options);
    this.lines = lines;
    this.exitCode = exitCode;
  }
}
