import { posix } from 'node:path';

/** A folder or a file of src, and what its files may import beside each other. */
export interface Room {
  /** From src; a room inside another, such as `report/page`, is apart from it. */
  readonly path: string;
  /** Rooms above it in the table. */
  readonly rooms?: readonly string[];
  /** npm packages, built-ins of Node, and files outside src. */
  readonly packages?: readonly string[];
  /** Rooms and packages of which it may import types only. */
  readonly types?: readonly string[];
}

/** Sources by path from the root of the repository. */
export type Sources = ReadonlyMap<string, string>;

interface Import {
  readonly specifier: string;
  readonly isType: boolean;
}

const STATIC = /^(?:import|export)\s+(type\s+)?(?:[^'";]*?\sfrom\s*)?['"]([^'"]+)['"]/gm;
const DYNAMIC = /\bimport\(\s*(?:['"`]([^'"`$]+)['"`])?/g;

/** What breaks the table, one sentence each: imports that it does not allow, files in no room, and lines of its own. */
export function layerProblems(sources: Sources, table: readonly Room[]): readonly string[] {
  const used = new Set<string>();
  const ofFiles = [...sources].flatMap(([file, source]) => {
    const room = roomOf(file, table);
    return room === undefined
      ? [`${file} is in no room: add it to the table`]
      : importsOf(source).flatMap((found) => importProblem(file, found, room, table, used) ?? []);
  });
  return [...tableProblems(table), ...emptyRooms(sources, table), ...ofFiles, ...unusedAllowances(table, used)];
}

/** Circles of imports, types included, each as the files along it; none where nothing imports itself by way of others. */
export function importCircles(sources: Sources): readonly (readonly string[])[] {
  const circles: (readonly string[])[] = [];
  const done = new Set<string>();
  const visit = (file: string, trail: readonly string[]): void => {
    const start = trail.indexOf(file);
    if (start >= 0) {
      circles.push([...trail.slice(start), file]);
    } else if (!done.has(file)) {
      for (const { specifier } of importsOf(sources.get(file) ?? '')) {
        visit(targetOf(file, specifier), [...trail, file]);
      }
      done.add(file);
    }
  };
  for (const file of sources.keys()) {
    visit(file, []);
  }
  return circles;
}

function importsOf(source: string): readonly Import[] {
  const statics = [...source.matchAll(STATIC)].map(([, type, specifier = '']) => ({
    specifier,
    isType: type !== undefined,
  }));
  const dynamics = [...source.matchAll(DYNAMIC)].map(([, specifier = '(computed)']) => ({ specifier, isType: false }));
  return [...statics, ...dynamics];
}

/** The room with the longest path that the file is in. */
function roomOf(file: string, table: readonly Room[]): Room | undefined {
  const holding = table.filter(({ path }) => file === `src/${path}` || file.startsWith(`src/${path}/`));
  return holding.sort((left, right) => right.path.length - left.path.length)[0];
}

/** The file from the root of the repository, or the package. */
function targetOf(file: string, specifier: string): string {
  if (specifier.startsWith('.')) {
    return posix.join(posix.dirname(file), specifier);
  }
  const parts = specifier.split('/');
  return specifier.startsWith('node:') ? specifier : parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function importProblem(
  file: string,
  { specifier, isType }: Import,
  room: Room,
  table: readonly Room[],
  used: Set<string>,
): string | undefined {
  const target = targetOf(file, specifier);
  const targetRoom = roomOf(target, table);
  if (targetRoom === room) {
    return undefined;
  }
  const name = targetRoom?.path ?? target;
  const { types = [] } = room;
  const allowed = (targetRoom === undefined ? room.packages : room.rooms) ?? [];
  if (allowed.includes(name) || (isType && types.includes(name))) {
    used.add(allowance(room, name));
    return undefined;
  }
  return `${file} imports ${isType ? 'types of ' : ''}${specifier} (${name}); ${allowedText(room)}`;
}

function allowedText({ path, rooms = [], packages = [], types = [] }: Room): string {
  const values = [...rooms, ...packages].join(', ') || 'nothing else';
  return `${path} may import ${values}${types.length === 0 ? '' : `, and types of ${types.join(', ')}`}`;
}

/** A room may name only rooms above it, so that the table itself has no circle. */
function tableProblems(table: readonly Room[]): readonly string[] {
  return table.flatMap(({ path, rooms = [], types = [] }, place) => {
    const below = table.slice(place).map((room) => room.path);
    return [...rooms, ...types]
      .filter((name) => below.includes(name))
      .map((name) => `${path} names ${name}, which is not above it`);
  });
}

/** Rooms without a file, and the second of two of the same path. */
function emptyRooms(sources: Sources, table: readonly Room[]): readonly string[] {
  const inhabited = new Set([...sources.keys()].map((file) => roomOf(file, table)));
  return table.filter((room) => !inhabited.has(room)).map(({ path }) => `${path} has no file: take it off the table`);
}

function unusedAllowances(table: readonly Room[], used: ReadonlySet<string>): readonly string[] {
  return table.flatMap((room) => {
    const names = [...(room.rooms ?? []), ...(room.packages ?? []), ...(room.types ?? [])];
    return names
      .filter((name) => !used.has(allowance(room, name)))
      .map((name) => `${room.path} may import ${name} and does not: take it off the table`);
  });
}

function allowance({ path }: Room, name: string): string {
  return `${path} ${name}`;
}
