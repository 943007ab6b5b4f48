import { apiPath, ask } from '../api.js';
import { bytes, plural } from '../words.js';

/** Shards that are asked one by one how many messages are too old. */
const SHARDS_ASKED_MAX = 64;

/** What a setting drops that keeps less than before, in a sentence, by the setting's name. */
const SAYS = {
  retentionMillis: () => 'Drops messages sooner after every group has consumed them. Groups do not miss any, but nobody can go back to them.',
  ageMillisMax: async (topic, millis) => {
    const old = await olderThan(topic, Date.now() - millis);
    return old === null ? 'Drops all messages that are too old, consumed or not.' : `Drops ${plural(old, 'message')} that ${old === 1 ? 'is' : 'are'} too old now, consumed or not, and later those that grow too old.`;
  },
  shardBytesMax: (topic, max) => {
    const shards = topic.shardList.filter((shard) => shard.bytes > max);
    const over = shards.reduce((sum, shard) => sum + shard.bytes - max, 0);
    return shards.length === 0 ? 'No shard is too large now.' : `Drops about ${bytes(over)} of ${plural(shards.length, 'shard')}: the oldest messages, consumed or not.`;
  },
};

/** The same for any other setting. */
const saysAny = ({ label, show, help }, value) => `${label} becomes ${show(value)}, for messages that are kept now, too: ${help}`;

/** What other settings of a topic drop, in sentences. The node drops within a minute or so. */
export const dropped = (topic, next, shorter) =>
  Promise.all(shorter.map((each) => SAYS[each.name]?.(topic, next[each.name]) ?? saysAny(each, next[each.name])));

/** How many messages are older than a time; null if that takes too many questions, or is unknown. */
async function olderThan(topic, millis) {
  if (topic.shardList.length > SHARDS_ASKED_MAX) return null;
  const counts = await Promise.all(topic.shardList.map((shard) => olderIn(topic.name, shard, millis)));
  return counts.includes(null) ? null : counts.reduce((sum, n) => sum + n, 0);
}

async function olderIn(topic, { shard, start, end }, millis) {
  if (start === null || end === null) return null;
  if (start === end) return 0;
  try {
    const [first] = await ask('GET', `${apiPath('topics', topic, 'messages')}?${new URLSearchParams({ shard, at: millis, limit: 1 })}`);
    return (first === undefined ? end : first.offset) - start;
  } catch (e) {
    // Who may change a topic need not be allowed to read it.
    return null;
  }
}
