import { html, memo } from './lib.js';
import { bytes, clock, count, figure, known, millis, plural, rate } from './words.js';
import { byName } from './model.js';
import { Spark } from './spark.js';
import { NodeActions } from './actions/bars.js';

const MOVES_SHOWN_MAX = 50;
const TOPICS_SHOWN_MAX = 200;

/** A table that scrolls sideways in itself, with the keyboard too. */
const Table = ({ label, head, children, empty }) => html`<section class="panel" aria-label=${label}>
  <h2>${label}</h2>
  <div class="scroll" role="region" tabindex="0" aria-label=${`${label}, table`}>
    <table>
      <thead>
        <tr>${head.map(([name, kind]) => html`<th scope="col" class=${kind ?? ''}>${name}</th>`)}</tr>
      </thead>
      <tbody>
        ${children.length > 0 ? children : html`<tr><td class="quiet" colspan=${head.length}>${empty}</td></tr>`}
      </tbody>
    </table>
  </div>
</section>`;

const Num = ({ children }) => html`<td class="num">${children}</td>`;

export const Moves = memo(
  ({ moves, group }) => {
    const keys = Object.keys(moves)
      .filter((key) => moves[key].group === group)
      .sort((a, b) => b - a);
    const shown = keys.slice(0, MOVES_SHOWN_MAX);
    return html`<${Table}
      label="Recent moves"
      empty="no shard has moved yet"
      head=${[['time'], ['shard'], ['from → to'], ['reason'], ['pause', 'num'], ['release', 'num'], ['redelivered', 'num'], ['epoch', 'num']]}
    >
      ${shown.map((key) => {
        const move = moves[key];
        return html`<tr key=${key}>
          <td>${figure(clock(move.time))}</td>
          <td class="mono">${move.topic}/${move.shard}</td>
          <td class="mono">${move.from ?? html`<span class="quiet">nobody</span>`} <span class="quiet">→</span> ${move.to ?? html`<span class="quiet">nobody</span>`}</td>
          <td>${figure(move.reason)}${move.capped ? html` <span class="capped" title="the old owner did not let go in time, and lost the shard">cap hit</span>` : null}</td>
          <${Num}>${figure(millis(move.pauseMs))}<//>
          <${Num}>${figure(millis(move.releaseMs))}<//>
          <${Num}>${figure(count(move.redelivered))}<//>
          <${Num}>${figure(count(move.epoch))}<//>
        </tr>`;
      })}
    <//>`;
  },
  (a, b) => a.moves === b.moves && a.group === b.group,
);

export function Topics({ topics, history }) {
  const names = Object.keys(topics).sort(byName);
  return html`<${Table}
    label="Topics"
    empty="no topic yet"
    head=${[['topic'], ['shards', 'num'], ['appended/s', 'num'], ['last two minutes'], ['messages', 'num'], ['delayed', 'num'], ['size', 'num']]}
  >
    ${names.slice(0, TOPICS_SHOWN_MAX).map((name) => {
      const topic = topics[name];
      return html`<tr key=${name}>
        <th scope="row" class="mono">${name}</th>
        <${Num}>${figure(count(topic.shards))}<//>
        <${Num}>${figure(rate(topic.rate))}<//>
        <td><${Spark} values=${history.topics.get(name)?.values(0)} width=${96} height=${18} /></td>
        <${Num}>${figure(count(topic.end))}<//>
        <${Num}>${figure(count(topic.delayed))}<//>
        <${Num}>${figure(bytes(topic.bytes))}<//>
      </tr>`;
    })}
  <//>`;
}

const alive = (node) =>
  node.alive === true ? ['●', 'up'] : node.alive === false ? ['✕', 'down'] : [null, null];

export const Nodes = memo(({ nodes, acts }) => html`<ul class="nodes" aria-label="Nodes">
  ${Object.keys(nodes)
    .sort(byName)
    .map((name) => {
      const [glyph, word] = alive(nodes[name]);
      return html`<li key=${name} data-alive=${word ?? 'unknown'}>
        <span class="glyph" aria-hidden="true">${glyph}</span>
        <span class="mono">${name}</span>
        <span class="quiet">${figure(word)}${known(nodes[name].host) ? ` on ${nodes[name].host}` : ''}${nodes[name].membership === 'DRAINING' ? ', drains' : ''}</span>
        ${acts && html`<${NodeActions} name=${name} node=${nodes[name]} />`}
      </li>`;
    })}
</ul>`);

const Followers = ({ followers }) => {
  const names = Object.keys(followers ?? {}).sort(byName);
  if (names.length === 0) return html`<span class="quiet">none</span>`;
  return names.map(
    (name) => html`<span class="follower"><span class="mono">${name}</span> ${figure(known(followers[name].lagEntries) ? `−${count(followers[name].lagEntries)}` : null)}</span>`,
  );
};

/** The nodes that should not lead a log group; they give it away while another can lead. */
const Ineligible = ({ nodes }) =>
  Object.keys(nodes ?? {})
    .sort(byName)
    .flatMap((name) =>
      Object.keys(nodes[name]).map(
        (reason) => html`<span class="capped" title=${nodes[name][reason]}><span class="mono">${name}</span> ${reason.toLowerCase().replace('_', ' ')}</span> `,
      ),
    );

/** What the leader stores, and what no node can read any more. */
const Stored = ({ storage, leader }) => {
  const own = storage?.[leader];
  const lost = Math.max(0, ...Object.values(storage ?? {}).map((node) => node.lostMessages ?? 0));
  return html`${figure(known(own?.liveBytes) ? `${bytes(own.liveBytes)} live, ${bytes(own.deadBytes)} dead` : null)}
    ${lost > 0 && html` <span class="capped" title="every copy of them is damaged; the log of the node names them">${plural(lost, 'message')} lost</span>`}`;
};

export const Logs = memo(({ logs }) => html`<${Table}
  label="Log groups"
  empty="nothing is known of the logs yet"
  head=${[['log'], ['leader'], ['term', 'num'], ['committed', 'num'], ['applied', 'num'], ['followers, entries behind'], ['stored'], ['should not lead']]}
>
  ${Object.keys(logs)
    .sort((a, b) => (b === 'meta') - (a === 'meta') || byName(a, b))
    .map((name) => {
      const log = logs[name];
      return html`<tr key=${name}>
        <th scope="row" class="mono">${name}</th>
        <td class="mono">${figure(log.leader)}</td>
        <${Num}>${figure(count(log.term))}<//>
        <${Num}>${figure(count(log.commitIndex))}<//>
        <${Num}>${figure(count(log.appliedIndex))}<//>
        <td>${known(log.followers) ? html`<${Followers} followers=${log.followers} />` : figure(null)}</td>
        <td>${name === 'meta' ? null : html`<${Stored} storage=${log.storage} leader=${log.leader} />`}</td>
        <td><${Ineligible} nodes=${log.ineligible} /></td>
      </tr>`;
    })}
<//>`);
