import { apiPath, ask } from '../api.js';
import { link } from '../router.js';
import { SETTINGS } from '../settings.js';
import { OFF } from '../units.js';
import { bytes, count, plural } from '../words.js';
import { dropped } from './dropped.js';

const NAME = /^\w[\w.-]{0,119}$/;
const SHARDS_MAX = 10000;

const settingFields = (topic) =>
  SETTINGS.map(({ name, label, show, usual, hint }) => ({ name, label, hint, value: show(topic?.[name] ?? usual) }));

const setting = ({ parse, mayBeOff }, text) => (mayBeOff && text.trim() === OFF ? -1 : parse(text));
const settings = (values) => Object.fromEntries(SETTINGS.map((each) => [each.name, setting(each, values[each.name])]));

function wrongSettings(values) {
  const bad = SETTINGS.find((each) => setting(each, values[each.name]) === null);
  return bad ? `${bad.label} is “${values[bad.name]}”: ${bad.right}${bad.mayBeOff ? ', or off' : ''}.` : null;
}

const shardsField = (value) => ({ name: 'shards', label: 'Shards', value: String(value), hint: 'At least as many as the consumers of one group: 1 to 10,000.' });
const wrongShards = ({ shards }) => (/^\d{1,5}$/.test(shards.trim()) && shards >= 1 && shards <= SHARDS_MAX ? null : `Shards is “${shards}”: write a whole number from 1 to 10,000.`);

export const createTopic = () => ({
  title: 'Create a topic',
  verb: 'Create',
  fields: () => [{ name: 'name', label: 'Name', hint: 'Letters, digits, _ and, after the first character, also . and -' }, shardsField(4), ...settingFields(null)],
  wrong: (values) => (NAME.test(values.name.trim()) ? (wrongShards(values) ?? wrongSettings(values)) : `Name is “${values.name}”: use letters, digits, _ . and -, at most 120.`),
  look: async (values) => {
    const name = values.name.trim();
    const topics = await ask('GET', 'api/topics');
    return {
      says: [`Creates the topic ${name} with ${plural(Number(values.shards), 'shard')}.`],
      table: { head: ['setting', 'value'], rows: SETTINGS.map((each) => [each.label, each.show(setting(each, values[each.name]))]) },
      refused: topics.some((topic) => topic.name === name) ? `there is a topic ${name} already` : null,
    };
  },
  run: async (values) => {
    const topic = await ask('POST', 'api/topics', { name: values.name.trim(), shards: Number(values.shards), ...settings(values) });
    return { says: [`The topic ${topic.name} has ${plural(topic.shards, 'shard')}.`], link: { href: link('topics', topic.name), text: 'Show it' } };
  },
});

export const changeTopic = (name) => ({
  title: `Change the settings of ${name}`,
  verb: 'Change',
  fields: async () => settingFields(await ask('GET', apiPath('topics', name))),
  wrong: wrongSettings,
  look: async (values) => {
    const topic = await ask('GET', apiPath('topics', name));
    const next = settings(values);
    const changed = SETTINGS.filter((each) => next[each.name] !== topic[each.name]);
    if (changed.length === 0) return { says: ['The topic has these settings already.'], refused: 'there is nothing to change' };
    const shorter = SETTINGS.filter((each) => isShorter(topic[each.name], next[each.name]));
    return {
      says: shorter.length === 0 ? ['Drops no message that is kept now.'] : await dropped(topic, next, shorter),
      table: { head: ['setting', 'now', 'then'], rows: changed.map((each) => [each.label, each.show(topic[each.name]), each.show(next[each.name])]) },
      confirm: shorter.length > 0 ? name : null,
      changes: Object.fromEntries(changed.map((each) => [each.name, next[each.name]])),
    };
  },
  run: async (values, effect) => {
    const topic = await ask('PATCH', apiPath('topics', name), effect.changes);
    return { says: [`The topic ${name} has other settings now.`], table: { head: ['setting', 'value'], rows: SETTINGS.map((each) => [each.label, each.show(topic[each.name])]) } };
  },
});

/** Whether a limit keeps less than before; off keeps all. */
const isShorter = (before, after) => after >= 0 && (before < 0 || after < before);

export const reshardTopic = (name) => ({
  title: `Reshard ${name}`,
  verb: 'Reshard',
  fields: async () => [{ ...shardsField((await ask('GET', apiPath('topics', name))).shards), hint: 'How many shards producers write to from then on: 1 to 10,000.' }],
  wrong: wrongShards,
  look: async (values) => {
    const topic = await ask('GET', apiPath('topics', name));
    const shards = Number(values.shards);
    return {
      says: [
        `Producers write to ${plural(shards, 'new shard')}. The ${plural(topic.shards, 'present shard')} ${topic.shards === 1 ? 'is' : 'are'} sealed.`,
        'Each group consumes the sealed shards first, so that the order of each key stays. No message is dropped.',
      ],
      refused: shards === topic.shards ? `the topic has ${plural(shards, 'shard')} already` : null,
    };
  },
  run: async (values) => {
    const topic = await ask('POST', apiPath('topics', name, 'reshard'), { shards: Number(values.shards) });
    return { says: [`Producers write to ${plural(topic.shards, 'shard')} of ${name} now.`] };
  },
});

/**
 * @param groups of the live state
 */
export const deleteTopic = (name, groups) => ({
  title: `Delete the topic ${name}`,
  verb: 'Delete the topic',
  fields: () => [],
  look: async () => {
    const topic = await ask('GET', apiPath('topics', name));
    const readers = readersOf(name, groups());
    return {
      says: [
        `Deletes the topic with ${topic.messages === null ? 'its messages, whose number is unknown' : `all its ${plural(topic.messages, 'message')}, ${bytes(topic.bytes)}`}${topic.delayed > 0 ? `, and ${plural(topic.delayed, 'delayed message')}` : ''}, for good.`,
        readers.length === 0
          ? 'No group reads it, as far as you may see.'
          : `${plural(readers.length, 'group')} ${readers.length === 1 ? 'reads' : 'read'} it, and ${readers.length === 1 ? 'loses its' : 'lose their'} positions, retries and dead letters of it:`,
      ],
      table: readers.length === 0 ? undefined : { head: ['group', 'not consumed yet'], rows: readers.map(([group, lag]) => [group, lag === null ? 'unknown' : count(lag)]) },
      confirm: name,
    };
  },
  run: async () => {
    await ask('DELETE', apiPath('topics', name));
    return { says: [`The topic ${name} is deleted.`] };
  },
});

/** The groups that read a topic, with their lag on it. */
export function readersOf(topic, groups) {
  return Object.entries(groups)
    .map(([name, group]) => [name, Object.values(group.shards ?? {}).filter((shard) => shard.topic === topic)])
    .filter(([, shards]) => shards.length > 0)
    .map(([name, shards]) => [name, shards.some((shard) => shard.lag === undefined) ? null : shards.reduce((sum, shard) => sum + shard.lag, 0)]);
}

function headersOf(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.some((line) => line.indexOf('=') < 1) ? null : Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1)]));
}

/**
 * @param groups of the live state
 */
export const sendMessage = (name, groups) => ({
  title: `Send a message to ${name}`,
  verb: 'Send',
  fields: () => [
    { name: 'key', label: 'Key', hint: 'Messages with the same key go to the same shard. Empty: without a key.' },
    { name: 'payload', label: 'Payload', kind: 'lines', rows: 6 },
    { name: 'headers', label: 'Headers', kind: 'lines', rows: 2, hint: 'One NAME=VALUE a line.' },
  ],
  wrong: (values) => (headersOf(values.headers) === null ? 'A header is not NAME=VALUE.' : null),
  look: async (values) => {
    const readers = readersOf(name, groups());
    const size = new TextEncoder().encode(values.payload).length;
    return {
      says: [
        `Sends one message of ${bytes(size)} ${values.key === '' ? 'without a key' : `with the key ${values.key}`} to ${name}. It cannot be taken back.`,
        readers.length === 0 ? 'No group reads the topic, as far as you may see.' : `${plural(readers.length, 'group')} will get it: ${readers.map(([group]) => group).join(', ')}.`,
      ],
    };
  },
  run: async (values) => {
    const message = { payload: values.payload, headers: headersOf(values.headers) };
    const { shard, offset } = await ask('POST', apiPath('topics', name, 'messages'), values.key === '' ? message : { ...message, key: values.key });
    return {
      says: [`The message is ${name}/${shard}, offset ${offset}.`],
      link: { href: link('topics', name, 'messages', { shard, offset }), text: 'Show it' },
    };
  },
});
