/** The members of a group, by its place; the members of a group keep their order. A negative group is none. By counting sort. */
export function groupBy(groupOf: Int32Array, groups: number): (group: number) => Int32Array {
  const ends = new Int32Array(groups + 1);
  for (const group of groupOf) {
    if (group >= 0) {
      ends[group + 1] = (ends[group + 1] ?? 0) + 1;
    }
  }
  for (let group = 0; group < groups; group += 1) {
    ends[group + 1] = (ends[group + 1] ?? 0) + (ends[group] ?? 0);
  }
  const next = ends.slice();
  const members = new Int32Array(ends[groups] ?? 0);
  for (let member = 0; member < groupOf.length; member += 1) {
    const group = groupOf[member] ?? -1;
    if (group >= 0) {
      const position = next[group] ?? 0;
      members[position] = member;
      next[group] = position + 1;
    }
  }
  return (group) => members.subarray(ends[group] ?? 0, group < 0 ? 0 : ends[group + 1]);
}
