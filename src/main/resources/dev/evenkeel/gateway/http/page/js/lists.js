import { html } from './lib.js';
import { brief, bytes, count, figure, known, plural, rate, seconds, statusWord } from './words.js';
import { byName, counts } from './model.js';
import { link } from './router.js';
import { Command } from './command.js';
import { Spark } from './spark.js';
import { Table } from './table.js';

const PROGRAM = 'java -jar evenkeel.jar';

/** What a group is up to in a word, and whether somebody should look. */
export function condition(group) {
  const { members } = counts(group);
  if (group.paused) return { glyph: '‖', word: 'paused', well: true };
  const word = statusWord(group.status, members);
  const well = group.status === 'OK' && members > 0;
  const paused = group.shardsPaused > 0 ? `, ${plural(group.shardsPaused, 'shard')} paused` : '';
  return known(word) ? { glyph: well ? '✓' : '▲', word: `${word}${paused}`, well } : { glyph: '', word: null, well: true };
}

export function Condition({ group }) {
  const { glyph, word, well } = condition(group);
  return html`<span class="state" data-well=${String(well)}><span aria-hidden="true">${glyph} </span>${figure(word)}</span>`;
}

const GROUP_COLUMNS = [
  { name: 'group', mono: true, sortable: true },
  { name: 'state', sortable: true },
  { name: 'mode' },
  { name: 'members', num: true, sortable: true },
  { name: 'shards', num: true, sortable: true },
  { name: 'lag', num: true, sortable: true },
  { name: 'oldest waits', num: true, sortable: true },
  { name: 'lag, two minutes' },
  { name: 'consumed/s', num: true, sortable: true },
];

function groupRow(name, group, history) {
  const { members, shards } = counts(group);
  const { word, well } = condition(group);
  return {
    key: name,
    sort: [name, `${well ? 1 : 0}${word}`, null, members, shards, group.lag, group.lagSeconds, null, group.rate],
    cells: [
      html`<a href=${link('groups', name)}>${name}</a>`,
      html`<${Condition} group=${group} />`,
      figure(group.mode),
      count(members),
      count(shards),
      figure(brief(group.lag)),
      figure(group.lag === 0 ? '0 s' : seconds(group.lagSeconds)),
      html`<${Spark} values=${history.line('groups', name)} width=${96} height=${18} />`,
      figure(rate(group.rate)),
    ],
  };
}

const NoGroup = () => html`<p>No group of consumers yet. Start one:</p>
  <${Command} text=${`${PROGRAM} consume TOPIC --group NAME`} />`;

/** All groups, or those of these names. */
export function Groups({ groups, history, names = Object.keys(groups).sort(byName), tall, first, label = 'Groups', empty = html`<${NoGroup} />` }) {
  return html`<${Table} label=${label} columns=${GROUP_COLUMNS} rows=${names.map((name) => groupRow(name, groups[name], history))} empty=${empty} tall=${tall} first=${first} />`;
}

const TOPIC_COLUMNS = [
  { name: 'topic', mono: true, sortable: true },
  { name: 'shards', num: true, sortable: true },
  { name: 'appended/s', num: true, sortable: true },
  { name: 'last two minutes' },
  { name: 'messages', num: true, sortable: true },
  { name: 'delayed', num: true, sortable: true },
  { name: 'size', num: true, sortable: true },
];

const topicRow = (name, topic, history) => ({
  key: name,
  sort: [name, topic.shards, topic.rate, null, topic.end, topic.delayed, topic.bytes],
  cells: [
    html`<a href=${link('topics', name)}>${name}</a>`,
    figure(count(topic.shards)),
    figure(rate(topic.rate)),
    html`<${Spark} values=${history.line('topics', name)} width=${96} height=${18} />`,
    figure(count(topic.end)),
    figure(count(topic.delayed)),
    figure(bytes(topic.bytes)),
  ],
});

const NoTopic = () => html`<p>No topic yet. Create one, and send it a message:</p>
  <${Command} text=${`${PROGRAM} topic create NAME --shards 6`} />
  <${Command} text=${`echo hello | ${PROGRAM} produce NAME`} />`;

/** All topics. */
export function Topics({ topics, history, tall, first }) {
  const rows = Object.keys(topics).sort(byName).map((name) => topicRow(name, topics[name], history));
  return html`<${Table} label="Topics" columns=${TOPIC_COLUMNS} rows=${rows} empty=${html`<${NoTopic} />`} tall=${tall} first=${first} />`;
}
