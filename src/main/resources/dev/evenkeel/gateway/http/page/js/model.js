import { known } from './words.js';

const natural = new Intl.Collator('en', { numeric: true });
export const byName = (a, b) => natural.compare(a, b);

/** Shards up to which a cell shows everything, and up to which it shows its lag as a number. */
const ROOMY_SHARDS_MAX = 72;
const COMPACT_SHARDS_MAX = 480;
/** Shards up to which a cell shows its number. */
const DENSE_SHARDS_MAX = 3000;

export function density(shards) {
  return shards <= ROOMY_SHARDS_MAX ? 'roomy' : shards <= COMPACT_SHARDS_MAX ? 'compact' : shards <= DENSE_SHARDS_MAX ? 'dense' : 'tiny';
}

const counted = new WeakMap();

/**
 * How many members and shards a group has, and how many shards have no owner although nothing keeps
 * them from it. What has not changed is the same object, and is not counted again.
 */
export function counts(group) {
  let sums = counted.get(group);
  if (sums === undefined) {
    let shards = 0;
    let free = 0;
    for (const key in group.shards ?? {}) {
      const shard = group.shards[key];
      shards++;
      if (shard.state === 'FREE' && !known(shard.waitsFor)) free++;
    }
    sums = { members: Object.keys(group.members ?? {}).length, shards, free };
    counted.set(group, sums);
  }
  return sums;
}

let order = [];

/** Sorted once, not at every change: the set of shards hardly ever differs. */
function sortedKeys(shards) {
  const keys = Object.keys(shards);
  if (keys.length !== order.length || order.some((key) => !(key in shards))) {
    order = keys.sort((a, b) => {
      const [x, y] = [shards[a], shards[b]];
      // Most shards are of one topic, and comparing names takes long.
      return x.topic === y.topic ? x.shard - y.shard : byName(x.topic ?? a, y.topic ?? b) || x.shard - y.shard;
    });
  }
  return order;
}

/**
 * The lanes of a group: first that of shards nobody owns, then a lane for each member and for each
 * owner that is not one (any more, or as the dispatcher of a level group).
 */
export function lanes(group) {
  let all = laid.get(group);
  if (all === undefined) {
    all = layOut(group);
    laid.set(group, all);
  }
  return all;
}

const laid = new WeakMap();

function layOut(group) {
  const members = group.members ?? {};
  const shards = group.shards ?? {};
  const cells = new Map(Object.keys(members).sort(byName).map((name) => [name, []]));
  const free = [];
  let others = false;
  for (const key of sortedKeys(shards)) {
    const shard = shards[key];
    if (!known(shard.owner)) {
      free.push({ key, shard });
      continue;
    }
    if (!cells.has(shard.owner)) {
      cells.set(shard.owner, []);
      others = true;
    }
    cells.get(shard.owner).push({ key, shard });
  }
  const names = [...cells.keys()];
  if (others) names.sort(byName);
  return [
    { name: null, member: null, cells: free },
    ...names.map((name) => ({ name, member: members[name] ?? null, cells: cells.get(name) })),
  ];
}

/** How evenly the shards lie on the consumers: `tilt` is -1 to 1, and 0 if no two differ by more than one. */
export function balance(allLanes) {
  const counts = allLanes.filter((lane) => lane.member !== null).map((lane) => lane.cells.length);
  if (counts.length === 0) return { min: null, max: null, tilt: 0 };
  const min = Math.min(...counts);
  const max = Math.max(...counts);
  const mean = counts.reduce((a, b) => a + b, 0) / counts.length;
  const weight = counts.reduce((sum, n, i) => sum + (i - (counts.length - 1) / 2) * (n - mean), 0);
  const uneven = mean === 0 ? 0 : Math.min(1, Math.max(0, max - min - 1) / (2 * mean));
  return { min, max, tilt: weight < 0 ? -uneven : uneven };
}

/** 0 to 1 on a scale that shows ten messages as well as a million. */
export function level(lag) {
  return known(lag) && lag > 0 ? Math.min(1, 0.08 + Math.log10(lag) * 0.15) : 0;
}

/** The short form of each topic in names of shards: as few letters as tell them apart, at least two. */
export function shortTopics(topics) {
  const all = [...topics].sort(byName);
  if (all.length === 1) return new Map([[all[0], '']]);
  for (let n = 2; n < 12; n++) {
    if (new Set(all.map((topic) => topic.slice(0, n))).size === all.length) {
      return new Map(all.map((topic) => [topic, `${topic.slice(0, n)}/`]));
    }
  }
  return new Map(all.map((topic) => [topic, `${topic}/`]));
}
