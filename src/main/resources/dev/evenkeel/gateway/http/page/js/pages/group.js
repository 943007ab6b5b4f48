import { html } from '../lib.js';
import { brief, count, figure, known, rate, seconds, unknownWord } from '../words.js';
import { balance, byName, counts, density, lanes, shortTopics } from '../model.js';
import { Board } from '../board.js';
import { Chart } from '../chart.js';
import { Dedup } from '../dedup.js';
import { Details } from '../details.js';
import { Failures } from '../failures.js';
import { Level } from '../level.js';
import { condition } from '../lists.js';
import { Moves } from '../tables.js';

const Figure = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;

/** The keel: it lies level when no consumer has more than one shard more than another. */
function Keel({ tilt }) {
  return html`<svg class="keel" viewBox="-40 -40 80 80" width="76" height="76" aria-hidden="true">
    <circle class="rim" r="38" />
    <path class="ticks" d="M-38 0h5M38 0h-5M-32.9 -19l3.5 2M32.9 -19l-3.5 2M-32.9 19l3.5 -2M32.9 19l-3.5 -2" />
    <g class="sea" style=${{ transform: `rotate(${(tilt * 24).toFixed(1)}deg)` }}>
      <path class="deep" d="M-31 0a31 31 0 0 0 62 0z" />
      <path class="line" d="M-31 0h62" />
    </g>
    <path class="hull" d="M-12 0h24M0 0v9" />
  </svg>`;
}

let prefixes = { shards: null, topics: '', map: new Map() };

/** The same map as long as the topics are the same, so that lanes need not be drawn again. */
function prefixesOf(shards) {
  if (prefixes.shards === shards) return prefixes.map;
  const topics = new Set(Object.values(shards).map((shard) => shard.topic));
  const all = [...topics].sort(byName).join(' ');
  if (prefixes.topics !== all) prefixes = { shards, topics: all, map: shortTopics(topics) };
  prefixes.shards = shards;
  return prefixes.map;
}

function Group({ name, group, account, focus, history, tick, lines, onClose }) {
  const all = lanes(group);
  const { members, shards } = counts(group);
  const { min, max, tilt } = balance(all);
  const spread = group.mode === 'level' || group.mode === 'singleton' ? '' : group.mode === 'broadcast' ? 'all to each' : min === null ? 'no consumer' : min === max ? `${count(min)} each` : `${count(min)}–${count(max)} each`;
  const { glyph, word, well } = condition(group);
  const label = `Lag ${unknownWord(brief(group.lag))} messages, consumed ${unknownWord(rate(group.rate))} messages a second`;
  return html`<section class="group" aria-labelledby="heading">
    <div class="glance">
      <${Keel} tilt=${group.mode === 'singleton' ? 0 : tilt} />
      <div class="title">
        <p class="status" data-well=${word === null ? undefined : String(well)} data-paused=${group.paused ? '' : undefined}>
          ${glyph !== '' && html`<span aria-hidden="true">${glyph} </span>`}${figure(word)}
          <span class="quiet"> · ${figure(group.mode)}</span>
        </p>
      </div>
      <dl class="figures">
        <${Figure} name="consumers">${count(members)}<//>
        <${Figure} name="shards">${count(shards)} <small>${spread}</small><//>
        <${Figure} name="lag">${figure(brief(group.lag))} <small>${known(group.lagSeconds) && group.lag > 0 ? seconds(group.lagSeconds) : ''}</small><//>
        <${Figure} name="consumed/s">${figure(rate(group.rate))}<//>
      </dl>
      <${Chart} key=${name} ring=${history.groups.get(name)} tick=${tick} label=${label} />
    </div>
    ${known(group.level) && html`<${Level} group=${name} level=${group.level} />`}
    ${known(group.dedup) && html`<${Dedup} group=${name} dedup=${group.dedup} />`}
    ${known(group.failures) && html`<${Failures} group=${name} failures=${group.failures} />`}
    <div class="split">
      <${Board} group=${name} lanes=${all} density=${density(shards)} prefixes=${prefixesOf(group.shards ?? {})} tick=${tick} lines=${lines} />
      <${Details} focus=${focus} name=${name} group=${group} account=${account} history=${history} onClose=${onClose} />
    </div>
  </section>`;
}

/** A group: its members, and which shards they own. */
export function GroupPage({ params, state, ...view }) {
  const group = state.groups?.[params.group];
  if (!group) return html`<p class="empty">There is no group “${params.group}” now. Choose another, or wait for it.</p>`;
  return html`<${Group} name=${params.group} group=${group} ...${view} />
    <div class="panels single"><${Moves} moves=${state.moves ?? {}} group=${params.group} /></div>`;
}
