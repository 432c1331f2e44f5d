/**
 * What CHANGELOG.md (in the format of Keep a Changelog) says of a version, without its heading. Throws Error when it says nothing.
 */
export function changesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((text) => text.startsWith(`## [${version}]`));
  const changes = section?.slice(section.indexOf('\n')).trim() ?? '';
  if (changes === '') {
    throw new Error(
      `CHANGELOG.md says nothing of ${version}: rename its section Unreleased to [${version}] - YYYY-MM-DD before you tag`,
    );
  }
  return `${changes}\n`;
}
