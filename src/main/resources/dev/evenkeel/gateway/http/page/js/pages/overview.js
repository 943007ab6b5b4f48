import { html, useState } from '../lib.js';
import { brief, bytes, count, figure, known, rate } from '../words.js';
import { attention } from '../attention.js';
import { Groups, Topics } from '../lists.js';
import { Logs, Nodes } from '../tables.js';

const SHOWN_AT_FIRST = 8;
/** Groups and topics that are drawn at first: on a phone each is a block. */
const ROWS_AT_FIRST = 25;

const Figure = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;

const GLYPHS = ['■', '▲', '‖'];
const WORDS = ['alarm', 'warning', 'note'];

/** What somebody should look at, each with a link to where one acts. */
function Attention({ all }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? all : all.slice(0, SHOWN_AT_FIRST);
  return html`<section class="attention" aria-label="Needs attention" data-worst=${all.length === 0 ? 'none' : WORDS[all[0].urgency]}>
    <h2>${all.length === 0 ? html`<span aria-hidden="true">✓ </span>Nothing needs attention` : `Needs attention: ${count(all.length)}`}</h2>
    ${all.length > 0 &&
    html`<ul>
      ${shown.map(
        (one) => html`<li key=${one.key} data-urgency=${WORDS[one.urgency]}>
          <span class="glyph" aria-hidden="true">${GLYPHS[one.urgency]}</span>
          <span class="what"><span class="unseen">${WORDS[one.urgency]}: </span>${one.text} <a href=${one.href}>${one.act}</a></span>
        </li>`,
      )}
    </ul>`}
    ${all.length > SHOWN_AT_FIRST && html`<button type="button" class="more" aria-expanded=${String(whole)} onClick=${() => setWhole(!whole)}>${whole ? 'Show fewer' : `Show ${count(all.length - SHOWN_AT_FIRST)} more`}</button>`}
  </section>`;
}

/** The sum of a figure of all; null if one is unknown. */
function sum(all, value) {
  let total = 0;
  for (const each of all) {
    const n = value(each);
    if (!known(n)) return null;
    total += n;
  }
  return total;
}

const part = (all, is) => html`${count(all.filter(is).length)} <small>of ${count(all.length)}</small>`;

function Figures({ cluster, topics, groups }) {
  const nodes = Object.values(cluster.nodes ?? {});
  const logs = Object.values(cluster.logs ?? {});
  const [allTopics, allGroups] = [Object.values(topics), Object.values(groups)];
  return html`<dl class="figures strip">
    <${Figure} name="nodes up">${part(nodes, (node) => node.alive === true)}<//>
    <${Figure} name="log groups led">${part(logs, (log) => known(log.leader))}<//>
    <${Figure} name="topics">${count(allTopics.length)}<//>
    <${Figure} name="groups">${count(allGroups.length)}<//>
    <${Figure} name="appended/s">${figure(rate(sum(allTopics, (topic) => topic.rate)))}<//>
    <${Figure} name="consumed/s">${figure(rate(sum(allGroups, (group) => group.rate)))}<//>
    <${Figure} name="lag of all groups">${figure(brief(sum(allGroups, (group) => group.lag)))}<//>
    <${Figure} name="size of all topics">${figure(bytes(sum(allTopics, (topic) => topic.bytes)))}<//>
  </dl>`;
}

/** The whole cluster at a glance, and what needs attention in it. */
export function Overview({ state, history }) {
  const { topics = {}, groups = {}, cluster = {} } = state;
  const lags = (name) => history.line('groups', name) ?? [];
  return html`<${Attention} all=${attention(state, lags)} />
    <${Figures} cluster=${cluster} topics=${topics} groups=${groups} />
    <div class="panels">
      <${Groups} groups=${groups} history=${history} first=${ROWS_AT_FIRST} />
      <${Topics} topics=${topics} history=${history} first=${ROWS_AT_FIRST} />
      <${Nodes} nodes=${cluster.nodes ?? {}} logs=${cluster.logs ?? {}} dispatcher=${cluster.dispatcher} />
      <${Logs} logs=${cluster.logs ?? {}} />
    </div>`;
}

