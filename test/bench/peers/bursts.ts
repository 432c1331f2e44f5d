/** For each of some instants, ascending, the first of its burst: of those that follow one another by less than `pause`. */
export function startsOfBursts(instants: readonly number[], pause: number): readonly number[] {
  const starts: number[] = [];
  instants.forEach((instant, place) => {
    const before = instants[place - 1];
    const isNew = before === undefined || instant - before >= pause;
    starts.push(isNew ? instant : (starts[place - 1] ?? instant));
  });
  return starts;
}
