/** Text with its node names as people want to read them. */
export type ShortNames = (text: string) => string;

/** Names as they are. */
export const FULL_NAMES: ShortNames = (text) => text;

/**
 * Removes the domain that all of these nodes have in common wherever a name in a text ends with it:
 * `ip-10-0-0-4.eu-central-1.compute.internal` becomes `ip-10-0-0-4`. Leaves addresses such as 10.0.0.4 alone, and the name of a
 * single node, which has nothing in common with others.
 */
export function shortNames(nodes: Iterable<string>): ShortNames {
  const suffix = commonDomain([...new Set(nodes)]);
  if (suffix === '') {
    return FULL_NAMES;
  }
  const escaped = suffix.replaceAll('.', '\\.');
  const ending = new RegExp(`(?<=[a-z0-9])${escaped}(?!\\.?[a-z0-9-])`, 'g');
  return (text) => text.replaceAll(ending, '');
}

/** `.eu-central-1.compute.internal`; empty where there is none. */
function commonDomain(names: readonly string[]): string {
  const [first = '', ...others] = names;
  const labels = first.split('.');
  for (let from = 1; from < labels.length && others.length > 0; from++) {
    const domain = `.${labels.slice(from).join('.')}`;
    if (others.every((name) => name.endsWith(domain))) {
      return /[a-z]/.test(domain) ? domain : '';
    }
  }
  return '';
}
