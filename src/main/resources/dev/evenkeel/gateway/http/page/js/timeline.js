import { byName } from './model.js';

/** Moves closer than this, of one group and for one reason, are one rebalance. */
const TOGETHER_MILLIS = 3_000;

const keyOf = (move) => `${move.group} ${move.topic}/${move.shard} ${move.epoch} ${move.time}`;

/**
 * The moves that the node has kept and those of the feed, which may be newer, oldest first and each once.
 *
 * @param kept as of /api/rebalances, or null
 * @param live the moves of the feed, by number
 * @param group null: those of all groups
 */
export function joined(kept, live, group) {
  const all = new Map();
  for (const move of [...(kept ?? []), ...Object.values(live ?? {})]) {
    // The feed's is told last, and knows figures that came later.
    if (group === null || move.group === group) all.set(keyOf(move), { ...move, key: keyOf(move), at: Date.parse(move.time) });
  }
  return [...all.values()].filter((move) => !Number.isNaN(move.at)).sort((a, b) => a.at - b.at);
}

/** Moves that belong together: `{ group, reason, at, until, moves, pauseMs }`, newest first. */
export function rebalances(moves) {
  const all = [];
  const open = new Map();
  for (const move of moves) {
    const kind = `${move.group} ${move.reason}`;
    const last = open.get(kind);
    if (last !== undefined && move.at - last.until <= TOGETHER_MILLIS) {
      last.moves.push(move);
      last.until = move.at;
      last.pauseMs = Math.max(last.pauseMs ?? -1, move.pauseMs ?? -1);
    } else {
      const one = { group: move.group, reason: move.reason, at: move.at, until: move.at, moves: [move], pauseMs: move.pauseMs ?? -1 };
      open.set(kind, one);
      all.push(one);
    }
  }
  return all.reverse().map((one) => ({ ...one, pauseMs: one.pauseMs < 0 ? null : one.pauseMs }));
}

/**
 * A row for each shard that has moved: who owned it from when to when, within a span of time.
 *
 * @param moves oldest first
 * @return by shard `{ name, moves, owned }`, where `owned` has `{ owner, from, to }` (owner null: nobody; undefined: unknown)
 */
export function rows(moves, from, to, withGroup) {
  const byShard = new Map();
  for (const move of moves) {
    const name = `${withGroup ? `${move.group} ` : ''}${move.topic}/${move.shard}`;
    if (!byShard.has(name)) byShard.set(name, []);
    byShard.get(name).push(move);
  }
  return [...byShard].sort(([a], [b]) => byName(a, b)).map(([name, all]) => ({ name, moves: all.filter((move) => move.at >= from && move.at <= to), owned: owned(all, from, to) }));
}

function owned(moves, from, to) {
  const spans = [];
  let owner = moves[0].from ?? null;
  let since = from;
  for (const move of moves) {
    if (move.at > to) break;
    if (move.at > since) spans.push({ owner, from: since, to: move.at });
    owner = move.to ?? null;
    since = Math.max(from, move.at);
  }
  spans.push({ owner, from: since, to });
  return spans;
}

/** Round points of time between two, at most so many, and how far they are apart. */
export function ticks(from, to, most) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800].map((s) => s * 1000);
  const step = steps.find((each) => (to - from) / each <= most) ?? steps.at(-1);
  const zone = new Date(from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((from - zone) / step) * step + zone;
  const all = [];
  for (let at = first; at <= to && all.length < 2 * most; at += step) all.push(at);
  return { step, all };
}
