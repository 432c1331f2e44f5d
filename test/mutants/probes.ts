import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Mutation } from './mutations.ts';

/** A source with a probe at the site of each of its mutations; `firstProbe` is the number of the first one's. */
export function withProbes(source: string, mutations: readonly (readonly [number, Mutation])[]): string {
  const insertions = mutations.flatMap(([probe, { site }]) =>
    site.kind === 'Statement'
      ? [{ at: site.start, text: `__probe(${probe});` }]
      : [
          { at: site.start, text: `(__probe(${probe}),` },
          { at: site.end, text: ')' },
        ],
  );
  const probe = JSON.stringify(join(import.meta.dirname, 'probe.ts'));
  const probed = insertions
    .toSorted((left, right) => right.at - left.at)
    .reduce((text, { at, text: inserted }) => text.slice(0, at) + inserted + text.slice(at), source);
  return `import { pass as __probe } from ${probe};${probed}`;
}

/** Which test files, as paths below `top`, passed each probe. Throws where a pass cannot be traced to a test file. */
export function readPasses(file: string, top: string): ReadonlyMap<number, ReadonlySet<string>> {
  const passes = new Map<number, Set<string>>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { probe, test } = JSON.parse(line) as { readonly probe: number; readonly test?: string };
    if (test === undefined) {
      throw new Error(`probe ${probe} was passed outside of a test file`);
    }
    passes.set(probe, (passes.get(probe) ?? new Set()).add(relative(top, test)));
  }
  return passes;
}
