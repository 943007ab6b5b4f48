import { answerOf, apiPath, ask } from './api.js';

/** Requests for a search that finds nothing, before somebody is asked whether to go on. */
const SEARCHES_MAX = 8;

/**
 * Reads shards of a topic, one page after another. Messages of several shards come in the order of
 * their timestamps, as far as each shard is in that order.
 */
export class Reader {
  /**
   * @param shards their numbers
   * @param key null: of any key
   */
  constructor(topic, shards, key, limit) {
    this.topic = topic;
    this.key = key;
    this.limit = limit;
    /** Of each shard: the parameters that say where to read on. */
    this.next = new Map(shards.map((shard) => [shard, {}]));
    /** Of each shard: its end when reading began. */
    this.ends = new Map();
  }

  /**
   * Where to begin.
   *
   * @param from `earliest`, `latest` (the last messages), `end`, `offset` or `at`
   * @param value of `offset` and `at`
   * @param list of the shards with their `start` and `end`
   */
  seek(from, value, list) {
    const each = Math.max(1, Math.floor(this.limit / this.next.size));
    for (const { shard, start, end } of list) {
      if (!this.next.has(shard)) continue;
      const offset = from === 'offset' ? value : from === 'end' ? (end ?? 0) : from === 'latest' ? Math.max(start, end - each) : (start ?? 0);
      this.ends.set(shard, end);
      this.next.set(shard, from === 'at' ? { at: value } : { offset });
    }
  }

  /**
   * The next messages, at most `limit`, and whether the end was reached, as it was when reading began.
   *
   * @returns `{messages, ended}`
   */
  async more(signal) {
    for (let search = 1; ; search++) {
      const pages = await Promise.all([...this.next].map(([shard, at]) => this.page(shard, at, signal)));
      const all = pages.flatMap((page) => page.messages).sort((a, b) => (a.timestamp ?? 0) - (b.timestamp ?? 0) || a.shard - b.shard || a.offset - b.offset);
      const messages = inOrder(all).slice(0, Math.max(this.limit, this.next.size));
      const taken = new Set(messages);
      for (const page of pages) {
        const rest = page.messages.find((message) => !taken.has(message));
        this.next.set(page.shard, { offset: rest?.offset ?? page.next });
      }
      const ended = [...this.next].every(([shard, { offset }], i) => offset >= this.ends.get(shard) && pages[i].messages.length < this.limit);
      if (messages.length > 0 || ended || this.key === null || search === SEARCHES_MAX) return { messages, ended };
    }
  }

  async page(shard, at, signal) {
    const parameters = new URLSearchParams({ shard, ...at, limit: this.limit });
    if (this.key !== null) parameters.set('key', this.key);
    const { said, headers } = await answerOf('GET', `${apiPath('topics', this.topic, 'messages')}?${parameters}`, undefined, signal);
    const next = headers.get('evenkeel-next-offset') ?? (said.length === 0 ? at.offset : said.at(-1).offset + 1);
    return { shard, messages: said, next: Number(next) };
  }
}

/** A shard keeps its order, even if its timestamps do not. */
function inOrder(messages) {
  const queues = new Map();
  for (const message of messages) {
    if (!queues.has(message.shard)) queues.set(message.shard, []);
    queues.get(message.shard).push(message);
  }
  queues.forEach((queue) => queue.sort((a, b) => a.offset - b.offset));
  return messages.map((message) => queues.get(message.shard).shift());
}

/** The shards of a topic with their `start` and `end`. */
export const shardsOf = async (topic, signal) => (await ask('GET', apiPath('topics', topic), undefined, signal)).shardList;
