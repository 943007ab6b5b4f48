import { html, useRef } from '../lib.js';
import { brief, bytes, count, figure, known, plural, rate, when } from '../words.js';
import { byName } from '../model.js';
import { apiPath, useAnswer } from '../api.js';
import { Command } from '../command.js';
import { Groups } from '../lists.js';
import { link } from '../router.js';
import { SETTINGS } from '../settings.js';
import { Spark } from '../spark.js';
import { Table } from '../table.js';
import { OFF } from '../units.js';

const REFRESH_MILLIS = 5_000;
/** A topic with many shards has a large answer. */
const REFRESH_MILLIS_LARGE = 30_000;
const LARGE_SHARDS = 1_000;
/** The shortest time from which a rate is taken. */
const RATE_MILLIS_MIN = 1_000;

const Figure = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;
const Row = ({ name, hint, children }) => html`<div title=${hint}><dt>${name}</dt><dd>${children}</dd></div>`;

/** Messages a second that each shard took between two answers; undefined before the second one. */
export function ratesOf(before, now, millis) {
  if (before === null || millis < RATE_MILLIS_MIN) return new Map();
  const ends = new Map(before.map((shard) => [shard.shard, shard.end]));
  return new Map(
    now
      .filter((shard) => known(shard.end) && known(ends.get(shard.shard)))
      .map((shard) => [shard.shard, Math.max(0, ((shard.end - ends.get(shard.shard)) * 1000) / millis)]),
  );
}

/** A hook: the rates of the shards by the last two answers. */
function useRates(data) {
  const seen = useRef({ data: null, at: 0, rates: new Map() });
  if (data !== null && data !== seen.current.data) {
    const at = performance.now();
    const { data: before, at: then } = seen.current;
    seen.current = { data, at, rates: ratesOf(before?.shardList ?? null, data.shardList, at - then) };
  }
  return seen.current.rates;
}

/** The shards that go on with the keys of each sealed one. */
export function children(shards) {
  const all = new Map(shards.filter((shard) => shard.sealed).map((shard) => [shard.shard, []]));
  for (const { shard, parents } of shards) {
    for (const parent of parents ?? []) all.get(parent)?.push(shard);
  }
  return all;
}

function Layout({ shards }) {
  const kin = children(shards);
  if (kin.size === 0) return null;
  return html`<section class="panel layout" aria-label="Layout">
    <h2>Layout</h2>
    <p class="quiet">The number of shards has changed. Sealed shards take no more messages, and go when every group has consumed them; the shards after the arrow go on with their keys.</p>
    <ul>
      ${[...kin].map(
        ([parent, heirs]) => html`<li key=${parent}>
          <span class="chip" data-sealed>${parent}<span class="unseen"> is sealed and goes on in</span></span>
          <span aria-hidden="true"> → </span>
          ${heirs.length === 0 ? html`<span class="quiet">not yet</span>` : heirs.map((heir) => html`<span class="chip">${heir}</span> `)}
        </li>`,
      )}
    </ul>
  </section>`;
}

const SHARD_COLUMNS = [
  { name: 'shard', mono: true, sortable: true },
  { name: 'state', sortable: true },
  { name: 'start', num: true, sortable: true },
  { name: 'end', num: true, sortable: true },
  { name: 'messages', num: true, sortable: true },
  { name: 'size', num: true, sortable: true },
  { name: 'part of the largest' },
  { name: 'appended/s', num: true, sortable: true },
  { name: 'delayed', num: true, sortable: true },
  { name: 'log group', mono: true, sortable: true },
  { name: 'leader', mono: true, sortable: true },
];

function shardRow(topic, shard, perSecond, largest) {
  const kept = known(shard.start) && known(shard.end) ? shard.end - shard.start : null;
  const state = shard.sealed ? 'sealed' : shard.parents?.length > 0 ? `open, after ${shard.parents.join(', ')}` : 'open';
  return {
    key: shard.shard,
    sort: [shard.shard, state, shard.start, shard.end, kept, shard.bytes, null, perSecond, shard.delayed, shard.logGroup, shard.leader],
    cells: [
      html`<a href=${link('topics', topic, 'messages', { shard: shard.shard })} title="messages of this shard">${shard.shard}</a>`,
      state,
      figure(count(shard.start)),
      figure(count(shard.end)),
      figure(count(kept)),
      figure(bytes(shard.bytes)),
      html`<span class="meter" aria-hidden="true"><span style=${{ transform: `scaleX(${largest > 0 ? ((shard.bytes ?? 0) / largest).toFixed(3) : 0})` }}></span></span>`,
      figure(rate(perSecond)),
      figure(count(shard.delayed)),
      figure(shard.logGroup),
      figure(shard.leader),
    ],
  };
}

const worded = ({ words }, value) => (known(value) ? (value < 0 ? OFF : words(value)) : null);

/** The live state has the settings, too, from nodes of this version on. */
function Settings({ topic, live, detail }) {
  return html`<section class="panel settings" aria-label="Settings">
    <h2>Settings</h2>
    <dl class="rows">
      ${SETTINGS.map((each) => html`<${Row} name=${each.title} hint=${each.help}>${figure(worded(each, live[each.name] ?? detail?.[each.name]))}<//>`)}
      <${Row} name="dropped so far before a group consumed it">${figure(count(detail?.messagesDropped))}<//>
      <${Row} name="next delayed message is due">${detail?.delayed === 0 ? html`<span class="quiet">none waits</span>` : figure(when(detail?.nextDueMillis))}<//>
      <${Row} name="created">${figure(when(detail?.createdMillis))}<//>
    </dl>
    <p class="quiet">To change them:</p>
    <${Command} text=${`java -jar evenkeel.jar topic configure ${topic} --retention 7d`} />
  </section>`;
}

const STORE_COLUMNS = [
  { name: 'log group', mono: true },
  { name: 'leader', mono: true },
  { name: 'live', num: true },
  { name: 'dead', num: true },
  { name: 'lost', num: true },
];

const Stores = ({ logGroups }) => html`<${Table}
  label="Log groups of this topic"
  columns=${STORE_COLUMNS}
  empty="Not known yet."
  rows=${logGroups.map((log) => ({
    key: log.group,
    cells: [log.group, figure(log.leader), figure(bytes(log.liveBytes)), figure(bytes(log.deadBytes)), figure(count(log.lostMessages))],
  }))}
><p class="quiet">Other topics share them.</p><//>`;

/** The groups that read a topic, as they are on its shards alone. */
function readers(groups, topic) {
  const all = Object.create(null);
  for (const name of Object.keys(groups)) {
    const shards = Object.create(null);
    const sums = { lag: 0, lagSeconds: 0, rate: null, shardsPaused: 0 };
    for (const key in groups[name].shards ?? {}) {
      const shard = groups[name].shards[key];
      if (shard.topic !== topic) continue;
      shards[key] = shard;
      sums.lag = known(sums.lag) && known(shard.lag) ? sums.lag + shard.lag : null;
      sums.lagSeconds = known(sums.lagSeconds) && known(shard.lagSeconds) ? Math.max(sums.lagSeconds, shard.lagSeconds) : null;
      if (known(shard.rate)) sums.rate = (sums.rate ?? 0) + shard.rate;
      if (shard.paused) sums.shardsPaused++;
    }
    if (Object.keys(shards).length > 0) all[name] = { ...groups[name], ...sums, shards };
  }
  return all;
}

function NoReader({ topic }) {
  return html`<p>No group reads this topic. Start one:</p>
    <${Command} text=${`java -jar evenkeel.jar consume ${topic} --group NAME`} />`;
}

/** A topic: its shards, its settings, and who reads it. */
export function TopicPage({ params, state, history }) {
  const name = params.topic;
  const topic = state.topics?.[name];
  const every = topic?.shards > LARGE_SHARDS ? REFRESH_MILLIS_LARGE : REFRESH_MILLIS;
  const { data, failure } = useAnswer(topic ? apiPath('topics', name) : null, every);
  const rates = useRates(data);
  if (!topic) {
    return html`<div class="empty">
      <p>There is no topic “${name}” now. Choose another, or create it:</p>
      <${Command} text=${`java -jar evenkeel.jar topic create ${name} --shards 6`} />
    </div>`;
  }
  const shards = data?.shardList ?? [];
  const largest = shards.reduce((most, shard) => Math.max(most, shard.bytes ?? 0), 0);
  const reading = readers(state.groups ?? {}, name);
  return html`<dl class="figures strip">
      <${Figure} name="shards">${figure(count(topic.shards))}<//>
      <${Figure} name="appended/s">${figure(rate(topic.rate))} <${Spark} values=${history.line('topics', name)} width=${96} height=${18} /><//>
      <${Figure} name="messages kept">${figure(brief(data?.messages))}<//>
      <${Figure} name="size">${figure(bytes(topic.bytes))}<//>
      <${Figure} name="delayed">${figure(count(topic.delayed))}<//>
      <${Figure} name="groups">${count(Object.keys(reading).length)}<//>
    </dl>
    ${failure !== null && html`<p class="notice" role="alert">What only the node knows is not up to date: ${failure.message}</p>`}
    <div class="panels">
      <div class="wide"><${Table}
        label="Shards"
        columns=${SHARD_COLUMNS}
        rows=${shards.map((shard) => shardRow(name, shard, rates.get(shard.shard) ?? null, largest))}
        empty=${failure === null ? 'Waiting for the node …' : 'Not known.'}
      ><p class="quiet">Refreshed every ${plural(every / 1000, 'second')}.</p><//></div>
      <div class="wide"><${Groups} groups=${reading} names=${Object.keys(reading).sort(byName)} history=${history} label="Groups that read it" empty=${html`<${NoReader} topic=${name} />`} /></div>
      <${Settings} topic=${name} live=${topic} detail=${data} />
      <${Stores} logGroups=${data?.logGroups ?? []} />
      <${Layout} shards=${shards} />
    </div>`;
}
