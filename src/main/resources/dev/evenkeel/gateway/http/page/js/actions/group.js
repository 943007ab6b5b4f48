import { apiPath, ask } from '../api.js';
import { bytes, count, plural } from '../words.js';

const ROWS_MAX = 200;

const named = ({ topic, shard }) => (shard !== undefined ? `the shard ${topic}/${shard}` : topic !== undefined ? `the topic ${topic}` : 'the whole group');

/**
 * Pauses a group, or a topic or shard of it.
 *
 * @param of `{}`, `{topic}` or `{topic, shard}`
 * @param live gives the group in the live state
 */
export const pause = (group, of, live) => ({
  title: of.topic === undefined ? `Pause ${group}` : `Pause ${named(of)} for ${group}`,
  verb: 'Pause',
  fields: () => [],
  look: async () => {
    const { members = {}, lag } = live() ?? {};
    return {
      says: [
        `Within about a second, ${plural(Object.keys(members).length, 'member')} of ${group} get no new messages of ${named(of)}. They finish what they have, and keep their shards.`,
        `Producers go on${lag === undefined ? '' : `, and the lag of ${plural(lag, 'message')} grows`}. The pause lasts until somebody resumes it.`,
      ],
    };
  },
  run: async () => {
    await ask('POST', apiPath('groups', group, 'pause'), of);
    return { says: [`Paused ${of.topic === undefined ? `the group ${group}` : `${named(of)} for ${group}`}.`] };
  },
});

export const resume = (group, of, live) => ({
  title: of.topic === undefined ? `Resume ${group}` : `Resume ${named(of)} for ${group}`,
  verb: 'Resume',
  fields: () => [],
  look: async () => {
    const shards = Object.values(live()?.shards ?? {}).filter((shard) => shard.paused && (of.topic ?? shard.topic) === shard.topic && (of.shard ?? shard.shard) === shard.shard);
    return { says: [`Members of ${group} get messages of ${named(of)} again at once, from where they stopped: ${plural(shards.length, 'paused shard')}.`] };
  },
  run: async () => {
    await ask('POST', apiPath('groups', group, 'resume'), of);
    return { says: [`Resumed ${of.topic === undefined ? `the group ${group}` : `${named(of)} for ${group}`}.`] };
  },
});

const TO = [
  ['earliest', 'the first message that is kept'],
  ['latest', 'the end: skip everything'],
  ['time', 'a time'],
  ['offset', 'an offset of each shard'],
];

/** The body of a reset. */
function resetOf(values) {
  const to = values.to === 'time' ? values.time.trim() : values.to === 'offset' ? Number(values.offset) : values.to;
  const body = { to, force: values.force === true };
  if (values.topic !== '') body.topic = values.topic;
  if (values.shard.trim() !== '') body.shard = Number(values.shard);
  return body;
}

/**
 * @param topics that the group reads
 */
export const resetOffsets = (group, topics) => ({
  title: `Reset the offsets of ${group}`,
  verb: 'Reset',
  fields: () => [
    { name: 'to', label: 'Go to', kind: 'choice', options: TO, value: 'earliest' },
    { name: 'time', label: 'Time', hint: 'Such as 2026-01-31T12:00:00Z: the first message at or after it.', value: `${new Date(Date.now() - 3600000).toISOString().slice(0, 19)}Z`, when: (values) => values.to === 'time' },
    { name: 'offset', label: 'Offset', when: (values) => values.to === 'offset' },
    { name: 'topic', label: 'Topic', kind: 'choice', options: [['', 'all topics'], ...topics.map((topic) => [topic, topic])], value: '' },
    { name: 'shard', label: 'Shard', hint: 'Its number. Empty: all shards.' },
    { name: 'force', label: 'Take shards from their members first', kind: 'yes', value: false },
  ],
  wrong: (values) => {
    if (values.shard.trim() !== '' && !/^\d{1,9}$/.test(values.shard.trim())) return `Shard is “${values.shard}”: write a number, or nothing.`;
    if (values.to === 'offset' && !/^\d{1,15}$/.test(values.offset.trim())) return `Offset is “${values.offset}”: write a number.`;
    return values.to === 'time' && Number.isNaN(Date.parse(values.time)) ? `Time is “${values.time}”: write one such as 2026-01-31T12:00:00Z.` : null;
  },
  look: async (values) => {
    const { shards } = await ask('POST', apiPath('groups', group, 'offsets'), { ...resetOf(values), dryRun: true });
    const moves = shards.map((shard) => shard.to - (shard.from ?? 0));
    const skipped = moves.filter((n) => n > 0).reduce((sum, n) => sum + n, 0);
    const again = -moves.filter((n) => n < 0).reduce((sum, n) => sum + n, 0);
    const owned = shards.filter((shard) => shard.owner !== null).length;
    return {
      says: [
        skipped > 0 ? `${group} skips ${plural(skipped, 'message')} and never gets ${skipped === 1 ? 'it' : 'them'}.` : `${group} skips no message.`,
        `It gets ${plural(again, 'message')} again.`,
        owned === 0 ? 'No member owns these shards now.' : `Members own ${plural(owned, 'of these shards', 'of these shards')}, and ${values.force ? 'release them first, which takes up to 20 s' : 'the node refuses the reset as long as they do: stop them, or go back and take the shards from them'}.`,
      ],
      table: {
        head: ['shard', 'owner', 'from', 'to'],
        rows: shards.slice(0, ROWS_MAX).map((shard) => [`${shard.topic}/${shard.shard}`, shard.owner ?? 'nobody', shard.from === null ? '—' : count(shard.from), count(shard.to)]),
      },
      confirm: skipped > 0 ? group : null,
    };
  },
  run: async (values) => {
    const { shards } = await ask('POST', apiPath('groups', group, 'offsets'), resetOf(values));
    const pending = shards.filter((shard) => shard.state === 'PENDING');
    return {
      says: [
        `Reset ${plural(shards.length - pending.length, 'shard')} of ${group}.`,
        ...pending.slice(0, 5).map((shard) => `${shard.topic}/${shard.shard} waits for ${shard.waitsFor ?? 'its owner to release it'}.`),
      ],
    };
  },
});

export const deleteGroup = (group) => ({
  title: `Delete the group ${group}`,
  verb: 'Delete the group',
  fields: () => [],
  look: async () => {
    const { shards, refused } = await ask('DELETE', `${apiPath('groups', group)}?dryRun=true`);
    const sum = (field) => shards.reduce((all, shard) => all + (shard[field] ?? 0), 0);
    return {
      says: [
        `Deletes the positions of ${group} on ${plural(shards.length, 'shard')}, ${plural(sum('deadLetters'), 'dead letter')} and ${plural(sum('retries'), 'retry', 'retries')}, for good. ${plural(sum('lag'), 'message')} ${sum('lag') === 1 ? 'is' : 'are'} not consumed.`,
        `Retention frees ${bytes(sum('bytesFreed'))} that no other group needs.`,
      ],
      refused,
      confirm: group,
    };
  },
  run: async () => {
    await ask('DELETE', apiPath('groups', group));
    return { says: [`The group ${group} is deleted.`] };
  },
});
