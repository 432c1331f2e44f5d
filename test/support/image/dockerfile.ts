/** One instruction of a Dockerfile: its name in upper case, and what follows it on its lines. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** A stage: what it starts from, and its instructions after FROM. */
export interface Stage {
  readonly from: string;
  /** The name after AS. */
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

const KNOWN = new Set(['ARG', 'CMD', 'COPY', 'ENTRYPOINT', 'ENV', 'LABEL', 'RUN', 'SHELL', 'USER', 'WORKDIR']);

/**
 * The stages of a Dockerfile in their order. Knows comments and continued lines; throws for an instruction that nobody here
 * could carry out, for instructions before FROM and for here-documents, so that none is passed over.
 */
export function parseDockerfile(text: string): readonly Stage[] {
  const stages: { from: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const line of logicalLines(text)) {
    const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(line) ?? [];
    const name = word.toUpperCase();
    if (name === 'FROM') {
      const [, from, , alias] = /^([^-\s]\S*)(\s+AS\s+(\S+))?$/i.exec(rest) ?? [];
      if (from === undefined) {
        throw new Error(`the Dockerfile has an instruction that these tests cannot carry out: ${line}`);
      }
      stages.push({ from, name: alias, instructions: [] });
    } else if (!KNOWN.has(name) || rest.includes('<<')) {
      throw new Error(`the Dockerfile has an instruction that these tests cannot carry out: ${line}`);
    } else {
      const stage = stages.at(-1);
      if (stage === undefined) {
        throw new Error(`the Dockerfile has an instruction before FROM: ${line}`);
      }
      stage.instructions.push({ name, text: rest });
    }
  }
  return stages;
}

/** Lines without comments, those that end with a backslash joined with the next one. */
function logicalLines(text: string): readonly string[] {
  const lines = text.split('\n').filter((line) => !/^\s*#/.test(line));
  return lines
    .join('\n')
    .replaceAll(/\\\n/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** A list in JSON, as of ENTRYPOINT, CMD and SHELL. Throws for the form that a shell would read. */
export function execForm({ name, text }: Instruction): readonly string[] {
  try {
    return JSON.parse(text) as readonly string[];
  } catch (error) {
    throw new Error(`${name} ${text}: these tests know its JSON form only`, { cause: error });
  }
}

/** `KEY=value` pairs of ARG, ENV and LABEL, quotes removed; an ARG without a value has the empty one. */
export function pairs({ text }: Instruction): readonly (readonly [string, string])[] {
  return [...text.matchAll(/([\w.]+)(?:=("[^"]*"|\S*))?/g)].map(([, key = '', value = '']) => [
    key,
    value.replaceAll(/^"|"$/g, ''),
  ]);
}
