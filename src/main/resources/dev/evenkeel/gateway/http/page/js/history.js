/** How much is kept: ten minutes of a group, two of a shard, one sample a second. */
export const GROUP_SAMPLES = 600;
export const SHARD_SAMPLES = 120;
const SHARDS_MAX = 4000;
const GROUPS_MAX = 200;
const TOPICS_MAX = 500;

/** The last samples of several figures; NaN where one was unknown. */
export class Ring {
  constructor(size, figures) {
    this.size = size;
    this.rows = Array.from({ length: figures }, () => new Float64Array(size));
    this.next = 0;
    this.length = 0;
  }

  push(...values) {
    this.rows.forEach((row, i) => {
      row[this.next] = values[i] ?? NaN;
    });
    this.next = (this.next + 1) % this.size;
    this.length = Math.min(this.length + 1, this.size);
  }

  /** Oldest first. */
  values(figure) {
    const row = this.rows[figure];
    const start = (this.next - this.length + this.size) % this.size;
    return Array.from({ length: this.length }, (_, i) => row[(start + i) % this.size]);
  }
}

/** What was seen of groups, shards and topics, for the lines that the page draws. Bounded. */
export class History {
  constructor() {
    this.groups = new Map();
    this.shards = new Map();
    this.topics = new Map();
    this.shardsOf = null;
    this.lines = new Map();
  }

  /**
   * The last two minutes of a figure of one of the `groups`, `topics` or `shards`: the same array until
   * the next sample. Undefined if there is none.
   */
  line(kind, name) {
    const key = `${kind} ${name}`;
    if (!this.lines.has(key)) this.lines.set(key, this[kind].get(name)?.values(kind === 'groups' ? 1 : 0).slice(-SHARD_SAMPLES));
    return this.lines.get(key);
  }

  /** Takes one sample of everything; of shards, those of the chosen group. */
  sample(state, chosen, unixSeconds) {
    this.lines.clear();
    keep(this.groups, state.groups ?? {}, GROUPS_MAX, GROUP_SAMPLES, 3, (g) => [unixSeconds, g.lag, g.rate]);
    keep(this.topics, state.topics ?? {}, TOPICS_MAX, SHARD_SAMPLES, 1, (t) => [t.rate]);
    if (this.shardsOf !== chosen) {
      this.shards.clear();
      this.shardsOf = chosen;
    }
    keep(this.shards, state.groups?.[chosen]?.shards ?? {}, SHARDS_MAX, SHARD_SAMPLES, 1, (s) => [s.lag]);
  }

  /** Nothing is known of a second in which the page was stale: the lines have a gap there. */
  gap(unixSeconds) {
    this.lines.clear();
    this.groups.forEach((ring) => ring.push(unixSeconds));
    this.topics.forEach((ring) => ring.push());
    this.shards.forEach((ring) => ring.push());
  }
}

function keep(rings, facts, max, size, figures, values) {
  for (const key of rings.keys()) {
    if (!(key in facts)) rings.delete(key);
  }
  for (const key in facts) {
    let ring = rings.get(key);
    if (ring === undefined) {
      if (rings.size >= max) continue;
      ring = new Ring(size, figures);
      rings.set(key, ring);
    }
    ring.push(...values(facts[key]));
  }
}
