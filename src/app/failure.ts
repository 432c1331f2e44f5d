/** A mistake of the user or of the surroundings: shown as one message, never as a stack trace. */
export class Failure extends Error {
  override readonly name = 'Failure';
  /** 1 error, 2 moves needed, 3 a gate failed, 4 input stale or incomplete. */
  readonly exitCode: number;

  constructor(message: string, exitCode = 1, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
