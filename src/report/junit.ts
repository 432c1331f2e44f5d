import { escapeXml } from '../model/escape.ts';

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
    `<testsuites name="${escapeXml(suite)}" ${counts} time="0">`,
    `  <testsuite name="${escapeXml(suite)}" ${counts} skipped="0" time="0">`,
    ...cases.flatMap(caseLines),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseLines({ group, name, failure, output }: TestCase): readonly string[] {
  const head = `    <testcase classname="${escapeXml(group)}" name="${escapeXml(name)}" time="0"`;
  const inner = [
    ...(failure === undefined
      ? []
      : [
          `      <failure message="${escapeXml(failure.split('\n', 1).join())}" type="failure">${escapeXml(failure)}</failure>`,
        ]),
    ...(output === undefined ? [] : [`      <system-out>${escapeXml(output)}</system-out>`]),
  ];
  return inner.length === 0 ? [`${head}/>`] : [`${head}>`, ...inner, '    </testcase>'];
}
