/** Input that cannot be used: says in which file and line, what is wrong and what to write. Shown without a stack trace. */
export class InputError extends Error {
  override readonly name = 'InputError';
  /** The file, or `<stdin>`. */
  readonly file: string;
  /** Counted from 1; undefined when the whole file is meant. */
  readonly line: number | undefined;

  constructor(file: string, line: number | undefined, wrong: string, options?: ErrorOptions) {
    super(line === undefined ? `${file}: ${wrong}` : `${file}:${line}: ${wrong}`, options);
    this.file = file;
    this.line = line;
  }
}
