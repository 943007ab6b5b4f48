import { html } from './lib.js';
import { brief, count, figure, plural } from './words.js';

const Fact = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;

function Breaker({ open }) {
  return html`<p class="breaker"><span aria-hidden="true">▲ </span>most messages fail: ${plural(open, 'consumer')} ${open === 1 ? 'pauses and tries' : 'pause and try'} one at a time</p>`;
}

/** What a group has of messages that failed. */
export function Failures({ group, failures }) {
  return html`<section class="failures" aria-label=${`Failures of ${group}`}>
    <dl class="figures">
      <${Fact} name="to be tried again">${figure(brief(failures.retriesWaiting))}<//>
      <${Fact} name="parked behind them">${figure(brief(failures.parked))}<//>
      <${Fact} name="shards that wait">${figure(count(failures.shardsWaiting))}<//>
      <${Fact} name="dead letters">${figure(brief(failures.deadLetters))}<//>
    </dl>
    ${failures.breakersOpen > 0 && html`<${Breaker} open=${failures.breakersOpen} />`}
  </section>`;
}
