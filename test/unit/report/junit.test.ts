import { describe, expect, it } from 'vitest';
import { junitXml } from '../../../src/report/junit.ts';
import { sarifLog } from '../../../src/report/sarif.ts';

describe('junitXml', () => {
  it('counts cases and failures, and has nothing of a clock', () => {
    const text = junitXml('s', [
      { group: 'g', name: 'passes', failure: undefined },
      { group: 'g', name: 'fails', failure: 'first\nsecond' },
    ]);
    expect(text).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="s" tests="2" failures="1" errors="0" time="0">',
        '  <testsuite name="s" tests="2" failures="1" errors="0" skipped="0" time="0">',
        '    <testcase classname="g" name="passes" time="0"/>',
        '    <testcase classname="g" name="fails" time="0">',
        '      <failure message="first" type="failure">first&#10;second</failure>',
        '    </testcase>',
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    );
  });

  it('writes no character that XML cannot hold, and none that ends an attribute', () => {
    const text = junitXml('s', [{ group: 'g', name: '<"&\u0000\u001b\ud800😀>', failure: undefined }]);
    expect(text).toContain('name="&lt;&quot;&amp;\\x00\\x1b\\u{d800}😀&gt;"');
  });
});

describe('sarifLog', () => {
  const place = (file: string) => {
    const log = sarifLog(
      '1.0.0',
      [{ id: 'r', description: 'd' }],
      [{ rule: 'r', level: 'error', message: 'm', place: { file, line: 3 } }],
    );
    return /"uri": "([^"]*)"/.exec(log)?.[1];
  };

  it.each([
    ['policies/a.yaml', 'policies/a.yaml'],
    ['./policies/a b.yaml', 'policies/a%20b.yaml'],
    ['/tmp/ä.yaml', 'file:///tmp/%C3%A4.yaml'],
    ['policies\\a.yaml', 'policies/a.yaml'],
  ])('writes %s as %s', (file, uri) => {
    expect(place(file)).toBe(uri);
  });

  it('leaves out where a finding stands that stands nowhere', () => {
    const log = sarifLog(
      '1.0.0',
      [{ id: 'r', description: 'd' }],
      [{ rule: 'r', level: 'note', message: 'm', place: undefined }],
    );
    expect(log).not.toContain('locations');
  });
});
