import { html, useEffect, useState } from './lib.js';
import { clock, figure, known } from './words.js';

const CONDITIONS = {
  live: { glyph: '●', word: 'live' },
  stale: { glyph: '◌', word: 'stale' },
  connecting: { glyph: '◔', word: 'connecting' },
};

/** Draws itself again a few times a second, and nothing else with it. */
function useTicking(millis) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), millis);
    return () => clearInterval(timer);
  }, [millis]);
}

function age(feed) {
  const millis = feed.age();
  return millis === null ? null : millis < 60000 ? `${(millis / 1000).toFixed(1)} s` : `${Math.floor(millis / 60000)} min`;
}

function Condition({ feed }) {
  useTicking(200);
  const { glyph, word } = CONDITIONS[feed.condition()];
  return html`<div class="condition" data-condition=${feed.condition()}>
    <span class="lamp" aria-hidden="true">${glyph}</span>
    <span class="word">${word}</span>
    <span class="age"><span class="unseen">age of what is shown: </span>${figure(age(feed))}</span>
  </div>`;
}

/** What is wrong with what is shown, in words; empty while nothing is. */
export function Notice({ feed, state }) {
  useTicking(500);
  const condition = feed.condition();
  let text = null;
  if (condition === 'stale') {
    const shown = `What you see is ${age(feed)} old.`;
    if (feed.link === 'open') {
      text = `Stale: nothing has arrived for ${age(feed)}.`;
    } else if (feed.retryAt === null) {
      text = `Stale: the connection is lost. ${shown} Trying again now.`;
    } else {
      const wait = Math.max(0, (feed.retryAt - performance.now()) / 1000).toFixed(1);
      text = `Stale: the connection is lost. ${shown} Trying again in ${wait} s.`;
    }
  } else if (state !== null && !known(state.cluster?.dispatcher)) {
    const owners = state.cluster?.owners;
    text = known(owners)
      ? `No dispatcher answers: owners are shown as the shared map says, read at ${clock(owners.asOf)}; the rest as it was last known.`
      : 'No dispatcher answers: groups are shown as they were last known.';
  }
  return text === null ? null : html`<p class="notice"><span aria-hidden="true">◌ </span>${text}</p>`;
}

const Fact = ({ name, value }) => html`<div class="fact"><dt>${name}</dt><dd>${figure(value)}</dd></div>`;

export function Header({ feed, state, children }) {
  return html`<header class="top">
    <a class="brand" href="#/">
      <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
        <circle class="rim" cx="16" cy="16" r="14.5" />
        <path class="sea" d="M2.5 16a13.5 13.5 0 0 0 27 0z" />
        <path class="line" d="M5 16h22M16 16v8" />
      </svg>
      <span>Evenkeel</span>
    </a>
    <dl class="facts">
      <${Fact} name="cluster" value=${state?.cluster?.id} />
      <${Fact} name="node" value=${state?.server?.node} />
      <${Fact} name="dispatcher" value=${state?.cluster?.dispatcher} />
      <${Fact} name="version" value=${state?.server?.version} />
    </dl>
    ${children}
    <${Condition} feed=${feed} />
  </header>`;
}
