import { at } from '../indices.ts';
/** The members of a group, by its place; the members of a group keep their order. A negative group is none. By counting sort. */
export function groupBy(groupOf: Int32Array, groups: number): (group: number) => Int32Array {
  const ends = new Int32Array(groups + 1);
  for (const group of groupOf) {
    if (group >= 0) {
      ends[group + 1] = at(ends, group + 1) + 1;
    }
  }
  for (let group = 0; group < groups; group += 1) {
    ends[group + 1] = at(ends, group + 1) + at(ends, group);
  }
  const next = ends.slice();
  const members = new Int32Array(at(ends, groups));
  for (let member = 0; member < groupOf.length; member += 1) {
    const group = at(groupOf, member);
    if (group >= 0) {
      const position = at(next, group);
      members[position] = member;
      next[group] = position + 1;
    }
  }
  return (group) => members.subarray(ends[group] ?? 0, group < 0 ? 0 : ends[group + 1]);
}
