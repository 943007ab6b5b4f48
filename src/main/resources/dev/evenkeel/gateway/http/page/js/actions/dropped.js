import { apiPath, ask } from '../api.js';
import { bytes, plural } from '../words.js';

/** Shards that are asked one by one how many messages are too old. */
const SHARDS_ASKED_MAX = 64;

/** What other settings of a topic drop, in sentences. The node drops within a minute or so. */
export async function dropped(topic, next) {
  const says = [];
  if (next.ageMillisMax >= 0 && (topic.ageMillisMax < 0 || next.ageMillisMax < topic.ageMillisMax)) {
    const old = await olderThan(topic, Date.now() - next.ageMillisMax);
    says.push(old === null ? 'Drops all messages that are too old, consumed or not.' : `Drops ${plural(old, 'message')} that ${old === 1 ? 'is' : 'are'} too old now, consumed or not, and later those that grow too old.`);
  }
  if (next.shardBytesMax >= 0 && (topic.shardBytesMax < 0 || next.shardBytesMax < topic.shardBytesMax)) {
    const shards = topic.shardList.filter((shard) => shard.bytes > next.shardBytesMax);
    const over = shards.reduce((sum, shard) => sum + shard.bytes - next.shardBytesMax, 0);
    says.push(shards.length === 0 ? 'No shard is too large now.' : `Drops about ${bytes(over)} of ${plural(shards.length, 'shard')}: the oldest messages, consumed or not.`);
  }
  if (next.retentionMillis < topic.retentionMillis) says.push('Drops messages sooner after every group has consumed them. Groups do not miss any, but nobody can go back to them.');
  return says;
}

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
