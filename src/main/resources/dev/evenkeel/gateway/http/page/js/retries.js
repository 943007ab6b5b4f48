import { html } from './lib.js';
import { apiPath, useAnswer } from './api.js';
import { link } from './router.js';
import { Table } from './table.js';
import { count, figure, known, moment, seconds } from './words.js';

const REFRESH_MILLIS = 2000;
const SHOWN_MAX = 200;

const COLUMNS = [
  { name: 'message', mono: true, sortable: true },
  { name: 'waits' },
  { name: 'attempts', num: true, sortable: true },
  { name: 'next attempt in', num: true, sortable: true },
  { name: 'first failed, UTC', sortable: true },
  { name: 'last failed, UTC', sortable: true },
];

const when = (instant) => (known(instant) ? moment(Date.parse(instant)) : null);
const waits = (each) => (each.parked ? 'behind another message of its key' : each.blocksShard ? html`<span class="capped">▲ and the whole shard with it</span>` : 'for its next attempt');

function row(each, reads) {
  const name = `${each.topic}/${each.shard}/${each.offset}`;
  return {
    key: name,
    sort: [name, null, each.attempts, each.dueInMs, each.firstFailed, each.lastFailed],
    cells: [
      reads(each.topic) ? html`<a href=${link('topics', each.topic, 'messages', { shard: each.shard, from: 'offset', offset: each.offset })}>${name}</a>` : name,
      waits(each),
      count(each.attempts),
      each.parked ? html`<span class="quiet">later</span>` : figure(seconds(each.dueInMs / 1000)),
      each.attempts === 0 ? html`<span class="quiet">not yet</span>` : figure(when(each.firstFailed)),
      each.attempts === 0 ? html`<span class="quiet">not yet</span>` : figure(when(each.lastFailed)),
    ],
  };
}

/**
 * The messages of a group that wait for another attempt.
 *
 * @param waiting how many there are in the live state; 0: none is asked for
 * @param reads tells whether the account may read a topic
 */
export function Retries({ group, waiting, reads }) {
  const { data, failure } = useAnswer(waiting > 0 ? `${apiPath('groups', group, 'retries')}?limit=${SHOWN_MAX}` : null, REFRESH_MILLIS);
  if (waiting === 0) return null;
  return html`<${Table} label="Waiting for another attempt" columns=${COLUMNS} rows=${(data ?? []).map((each) => row(each, reads))} empty=${failure?.message ?? 'Reading …'}>
    ${data?.length === SHOWN_MAX && html`<p class="quiet">The first ${count(SHOWN_MAX)} of ${count(waiting)}, by topic, shard and offset.</p>`}
  <//>`;
}
