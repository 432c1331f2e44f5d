/** What a check found on one version of Kubernetes. */
export type Verdict =
  | { readonly kind: 'Yes'; readonly note?: string }
  | { readonly kind: 'No'; readonly why: string }
  /** The version itself has not what the check needs. */
  | { readonly kind: 'NotApplicable'; readonly why: string };

/** Verdicts by the name of the check. */
export type Verdicts = ReadonlyMap<string, Verdict>;

/** Yes when nothing is wrong, else no for these reasons. */
export function yesUnless(problems: readonly string[], note?: string): Verdict {
  return problems.length === 0
    ? { kind: 'Yes', ...(note === undefined ? {} : { note }) }
    : { kind: 'No', why: problems.join('; ') };
}

/** A table with a row for each check and a column for each version, and below it everything that needs a word. */
export function tableOf(checks: readonly string[], byVersion: ReadonlyMap<string, Verdicts>): string {
  const notes: string[] = [];
  const cell = (check: string, version: string): string => {
    const verdict = byVersion.get(version)?.get(check);
    const text = noteOf(verdict);
    if (text === undefined) {
      return wordOf(verdict);
    }
    notes.push(`[${notes.length + 1}] ${check} on ${version}: ${text}`);
    return `${wordOf(verdict)} [${notes.length}]`;
  };
  const versions = [...byVersion.keys()];
  const rows = checks.map((check) => [check, ...versions.map((version) => cell(check, version))]);
  return [...aligned([['check', ...versions], ...rows]), '', ...notes].join('\n');
}

function wordOf(verdict: Verdict | undefined): string {
  switch (verdict?.kind) {
    case 'Yes':
      return 'yes';
    case 'No':
      return 'no';
    case 'NotApplicable':
      return 'n/a';
    case undefined:
      return '-';
    default:
      return verdict satisfies never;
  }
}

function noteOf(verdict: Verdict | undefined): string | undefined {
  if (verdict === undefined) {
    return undefined;
  }
  return verdict.kind === 'Yes' ? verdict.note : `${wordOf(verdict)}: ${verdict.why}`;
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)));
  return rows.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
