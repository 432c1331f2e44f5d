/** What tenants may write into names, labels, annotations and messages to mislead who reads them. */
export const PAYLOADS: readonly (readonly [name: string, text: string])[] = [
  ['OSC 52, which writes the clipboard', 'x\u001b]52;c;cm0gLXJm\u0007'],
  ['CSI, which erases the screen', 'x\u001b[2J\u001b[H'],
  ['C1 controls', 'x\u009b2J\u009d52;c;cm0=\u009c'],
  ['OSC 8, which hides where a link goes', 'x\u001b]8;;https://evil.example\u0007safe\u001b]8;;\u0007'],
  ['a carriage return', 'bad\rgood'],
  ['line ends', 'x\n## All is well\n\n| a | b |\n\u2028node\u2029'],
  ['bidirectional overrides', 'x\u202egnp.exe\u2066'],
  ['characters without a width', 'def\u200bault\ufeff\u{e0041}'],
  ['lone surrogates', 'x\ud800'],
  ['mentions', 'thanks @everyone and @org/team'],
  ['references to issues', 'closes #1 and org/repo#2'],
  ['a link', '[click](https://evil.example/?a=b)'],
  ['an image', '![x](https://evil.example/x.png)'],
  ['bare addresses', 'https://evil.example www.evil.example evil@evil.example'],
  ['HTML', '<img src=x onerror="alert(1)"></details><!--'],
  ['entities', '&lt;b&gt; &#64;everyone'],
  ['a formula of a spreadsheet', '=HYPERLINK("https://evil.example","x")'],
  ['a command of a spreadsheet', "@SUM(1+9)*cmd|' /C calc'!A0"],
  ['Markdown', '`code` **bold** _italic_ ~~gone~~ | cell \\'],
];

/** What a terminal acts on or does not show; all formats end their lines with a line feed. */
export const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
