import { html } from './lib.js';
import { brief, count, figure, known, rate } from './words.js';

const HOT_SHOWN_MAX = 5;

const Fact = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;

const percent = (n) => (known(n) ? `${rate(n)} %` : null);

/** The keys that were declined most often, hottest first. */
export const hottest = (hot) => Object.keys(hot ?? {}).sort((a, b) => hot[b] - hot[a] || (a < b ? -1 : 1)).slice(0, HOT_SHOWN_MAX);

function wouldSave(dedup) {
  return dedup.repetition === 'high'
    ? html`Messages repeat themselves while the former one is in flight: dedup would save ${figure(percent(dedup.wouldSavePercent))} of the work.`
    : 'Messages repeat themselves, but not while the former one is in flight: dedup would save nothing.';
}

/** What deduplication saves a group, or would save it. */
export function Dedup({ group, dedup }) {
  if (dedup.mode === 'off' || !known(dedup.mode)) {
    return html`<section class="dedup" aria-label=${`Repetition in ${group}`}><p class="quiet">${wouldSave(dedup)}</p></section>`;
  }
  const keys = hottest(dedup.hot);
  return html`<section class="dedup" aria-label=${`Dedup of ${group}`}>
    <dl class="figures">
      <${Fact} name="work saved">${figure(percent(dedup.savedPercent))} <small>by ${dedup.mode}</small><//>
      <${Fact} name="declined">${figure(brief(dedup.declined))}<//>
      <${Fact} name="at work">${figure(count(dedup.processing))}<//>
      <${Fact} name="waiting">${figure(count(dedup.waiting))}<//>
      <${Fact} name="lost">${figure(count(dedup.lost))}<//>
    </dl>
    <div>
      <p class="quiet">declined most often</p>
      ${keys.length === 0
        ? html`<p class="quiet">nothing yet</p>`
        : html`<ol class="hot" aria-label="Hottest keys">${keys.map((key) => html`<li key=${key}><span class="mono">${key === '' ? '(empty)' : key}</span> <span class="num">${brief(dedup.hot[key])}</span></li>`)}</ol>`}
    </div>
  </section>`;
}
