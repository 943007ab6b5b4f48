import { html } from './lib.js';
import { brief, count, figure, known, plural, rate, seconds, statusWord, unknownWord } from './words.js';
import { balance, byName, density, lanes, shortTopics } from './model.js';
import { Header, Notice } from './header.js';
import { Groups } from './groups.js';
import { Board } from './board.js';
import { Chart } from './chart.js';
import { Details } from './details.js';
import { Dedup } from './dedup.js';
import { Failures } from './failures.js';
import { Level } from './level.js';
import { LoggedIn, Login } from './login.js';
import { Logs, Moves, Nodes, Topics } from './tables.js';

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

let prefixes = { topics: '', map: new Map() };

/** The same map as long as the topics are the same, so that lanes need not be drawn again. */
function prefixesOf(shards) {
  const topics = new Set(Object.values(shards).map((shard) => shard.topic));
  const all = [...topics].sort(byName).join(' ');
  if (prefixes.topics !== all) prefixes = { topics: all, map: shortTopics(topics) };
  return prefixes.map;
}

function Group({ name, group, focus, history, tick, lines, onClose }) {
  const all = lanes(group);
  const shards = Object.keys(group.shards ?? {}).length;
  const members = Object.keys(group.members ?? {}).length;
  const { min, max, tilt } = balance(all);
  const spread = group.mode === 'level' || group.mode === 'singleton' ? '' : group.mode === 'broadcast' ? 'all to each' : min === null ? 'no consumer' : min === max ? `${count(min)} each` : `${count(min)}–${count(max)} each`;
  const well = group.status === 'OK';
  const label = `Lag ${unknownWord(brief(group.lag))} messages, consumed ${unknownWord(rate(group.rate))} messages a second`;
  return html`<section class="group" aria-labelledby="group-name">
    <div class="glance">
      <${Keel} tilt=${group.mode === 'singleton' ? 0 : tilt} />
      <div class="title">
        <h2 id="group-name"><span class="kind">group</span> ${name}</h2>
        <p class="status" data-well=${known(group.status) ? String(well) : undefined}>
          ${known(group.status) && html`<span aria-hidden="true">${well ? '✓ ' : '▲ '}</span>`}${figure(statusWord(group.status, members))}
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
      <${Details} focus=${focus} group=${group} history=${history} onClose=${onClose} />
    </div>
  </section>`;
}

function Nothing({ account, state, chosen }) {
  if (account.blind()) return html`<p class="empty">The user “${account.user}” may see nothing here: it needs the permission view:NAME for a topic or group.</p>`;
  if (state === null) return html`<p class="empty">Waiting for the node …</p>`;
  return chosen === null
    ? html`<div class="empty">
        <p>No group of consumers yet. Start one:</p>
        <p><code>java -jar evenkeel.jar consume TOPIC --group NAME</code></p>
      </div>`
    : html`<p class="empty">There is no group “${chosen}” now. Choose another, or wait for it.</p>`;
}

/** The whole page. */
export function App({ feed, account, state, chosen, focus, history, tick, lines, said, onClose, onEnter, onLeave }) {
  if (account.locked)
    return html`<div class="page">
      <${Header} feed=${feed} state=${null} />
      <main><${Login} account=${account} onEnter=${onEnter} /></main>
    </div>`;
  const groups = state?.groups ?? {};
  const group = chosen === null ? undefined : groups[chosen];
  return html`<div class="page" data-condition=${feed.condition()}>
    <a class="skip" href="#board" onClick=${skip}>Skip to the shards</a>
    <${Header} feed=${feed} state=${state}><${LoggedIn} account=${account} onLeave=${onLeave} /><//>
    <${Notice} feed=${feed} state=${state} />
    <main>
      ${Object.keys(groups).length > 0 && html`<${Groups} groups=${groups} chosen=${chosen} />`}
      ${group
        ? html`<${Group} name=${chosen} group=${group} focus=${focus} history=${history} tick=${tick} lines=${lines} onClose=${onClose} />`
        : html`<${Nothing} account=${account} state=${state} chosen=${chosen} />`}
      ${state !== null &&
      html`<div class="panels">
        ${group && html`<${Moves} moves=${state.moves ?? {}} group=${chosen} />`}
        <${Topics} topics=${state.topics ?? {}} history=${history} tick=${tick} />
        <${Logs} logs=${state.cluster?.logs ?? {}} />
        <section class="panel" aria-label="Nodes">
          <h2>Nodes</h2>
          <${Nodes} nodes=${state.cluster?.nodes ?? {}} />
        </section>
      </div>`}
    </main>
    <footer><p class="news" role="status" aria-live="polite" aria-label="News">${said}</p></footer>
  </div>`;
}

/** The address keeps the group. */
function skip(event) {
  event.preventDefault();
  document.querySelector('#board [tabindex="0"]')?.focus();
}
