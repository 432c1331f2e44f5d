import { escapeText } from '../model/escape.ts';

/** What became of one setting that could not be taken over as it stands. */
export interface ImportNote {
  /** Where the setting stands, such as `profiles[0].plugins.balance.enabled[1]`. */
  readonly path: string;
  /** Lost: nothing here does it. Changed: something like it is there instead. */
  readonly effect: 'Lost' | 'Changed';
  /** What is different now, and what to do about it. */
  readonly message: string;
}

/** One of our resources, and what was lost or changed on the way to it. */
export interface Conversion {
  readonly resources: readonly object[];
  /** In the order of the document. */
  readonly notes: readonly ImportNote[];
}

/** A setting without a counterpart. */
export function lost(path: string, message: string): ImportNote {
  return { path, effect: 'Lost', message };
}

/** A setting that became something else. */
export function changed(path: string, message: string): ImportNote {
  return { path, effect: 'Changed', message };
}

/** Fields of `object` that nobody reads, each as lost, with the name that was probably meant. */
export function unread(
  object: Readonly<Record<string, unknown>>,
  known: readonly string[],
  path: string,
): readonly ImportNote[] {
  return Object.keys(object)
    .filter((key) => !known.includes(key))
    .map((key) =>
      lost(path === '' ? key : `${path}.${key}`, `is no setting that is known here: ${known.join(', ')} are`),
    );
}

/** `Lost profiles[0].plugins.balance.enabled[1]: ...`, on one line whatever names the document has. */
export function noteLine({ effect, path, message }: ImportNote): string {
  return escapeText(`${effect} ${path === '' ? '' : `${path}: `}${message}`.replaceAll(/\s+/g, ' '));
}
