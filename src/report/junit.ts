/** One thing that was checked. */
export interface TestCase {
  /** What the case belongs to, such as a file. */
  readonly group: string;
  readonly name: string;
  /** Why it failed; `undefined`: it passed. */
  readonly failure: string | undefined;
  /** What people may want to read beside it. */
  readonly output?: string;
}

/**
 * Cases as JUnit XML, the format that CI systems read test results in. Times are 0, since the same input has to give the same
 * text.
 */
export function junitXml(suite: string, cases: readonly TestCase[]): string {
  const failures = cases.filter(({ failure }) => failure !== undefined).length;
  const counts = `tests="${cases.length}" failures="${failures}" errors="0"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escaped(suite)}" ${counts} time="0">`,
    `  <testsuite name="${escaped(suite)}" ${counts} skipped="0" time="0">`,
    ...cases.flatMap(caseLines),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseLines({ group, name, failure, output }: TestCase): readonly string[] {
  const head = `    <testcase classname="${escaped(group)}" name="${escaped(name)}" time="0"`;
  const inner = [
    ...(failure === undefined
      ? []
      : [
          `      <failure message="${escaped(failure.split('\n', 1).join())}" type="failure">${escaped(failure)}</failure>`,
        ]),
    ...(output === undefined ? [] : [`      <system-out>${escaped(output)}</system-out>`]),
  ];
  return inner.length === 0 ? [`${head}/>`] : [`${head}>`, ...inner, '    </testcase>'];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\t': '&#9;',
};

/** Text for XML 1.0, which has no way to write most control characters and no lone surrogates. */
function escaped(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"\n\t]/g, (character) => ENTITIES[character] ?? character);
}
