import { html, memo } from './lib.js';
import { brief, count, figure, known, plural, seconds } from './words.js';
import { byName } from './model.js';

/** Members up to which bars glide; more of them jump, and beyond the second number they are not drawn. */
const GLIDING_MAX = 40;
const SHOWN_MAX = 200;

const HOLDS = 'holds the round';

/** The owner of a level group's shards. No member can be called so. */
export const isDispatcher = (name) => known(name) && name.startsWith('dispatcher@');

/** The shortest bar, from which all are drawn; null without bars. */
export function least(bars) {
  let min = null;
  for (const name in bars) {
    const { finished } = bars[name];
    if (known(finished) && (min === null || finished < min)) min = finished;
  }
  return min;
}

/** Part of the range, 0 to 1: a bar is never longer than the range. */
export const share = (messages, range) => (range > 0 ? Math.min(1, Math.max(0, messages / range)) : 0);

function words(finished, ahead, inHand) {
  if (!known(finished)) return 'finished unknown';
  return `${plural(finished, 'message')} finished, ${count(ahead)} more than the least, ${known(inHand) ? `${count(inHand)} in hand` : 'in hand unknown'}`;
}

const Bar = memo(({ name, finished, inHand, ahead, range, held }) => {
  const done = share(ahead, range);
  const all = share(ahead + (inHand ?? 0), range);
  return html`<li class="bar" data-holder=${held !== null ? '' : undefined}>
    <span class="whose">
      <span class="name">${held !== null && html`<span aria-hidden="true">▲ </span>`}${name}</span>
      <span class="unseen">${words(finished, ahead, inHand)}</span>
      ${held !== null && html`<span class="holds">${HOLDS}${held > 0 ? ` for ${seconds(held / 1000)}` : ''}</span>`}
    </span>
    <span class="tube" aria-hidden="true">
      <span class="hand" style=${{ transform: `scaleX(${all.toFixed(4)})` }}></span>
      <span class="done" style=${{ transform: `scaleX(${done.toFixed(4)})` }}></span>
    </span>
    <span class="num" aria-hidden="true">${figure(known(finished) ? `+${brief(ahead)}` : null)}</span>
  </li>`;
});

function holderWords(level) {
  if (!known(level.holder)) return known(level.gap) ? 'nobody holds the round' : null;
  return known(level.heldMs) ? `${level.holder} ${HOLDS} for ${seconds(level.heldMs / 1000)}` : `${level.holder} ${HOLDS}`;
}

const Fact = ({ name, children }) => html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;

/** How level the members of a group in mode level are: what each has finished, from the one that has finished least. */
export function Level({ group, level }) {
  const bars = level.bars ?? {};
  const names = Object.keys(bars).sort(byName);
  const shown = names.slice(0, SHOWN_MAX);
  const from = least(bars);
  return html`<section class="level" aria-label=${`Level of ${group}`}>
    <dl class="figures">
      <${Fact} name="gap">${figure(count(level.gap))} <small>of range ${figure(count(level.range))}</small><//>
      <${Fact} name="round">${figure(brief(level.round))}<//>
      <${Fact} name="set aside">${figure(count(level.setAside))}<//>
      <${Fact} name="strategy"><small>${figure(level.strategy)}</small><//>
    </dl>
    <div class="bars-of">
      <p class="holder" data-held=${known(level.holder) ? '' : undefined}>${figure(holderWords(level))}</p>
      <p class="quiet scale">finished since the least, and <span class="lighter">in hand</span>; a full bar is the range</p>
      <ul class="bars" data-gliding=${names.length <= GLIDING_MAX ? '' : undefined} data-many=${names.length > 12 ? '' : undefined} aria-label="Finished by member">
        ${shown.map((name) => {
          const { finished, inHand } = bars[name];
          const ahead = known(finished) ? finished - from : 0;
          return html`<${Bar} key=${name} name=${name} finished=${finished} inHand=${inHand} ahead=${ahead} range=${level.range} held=${name === level.holder ? (level.heldMs ?? 0) : null} />`;
        })}
      </ul>
      ${names.length > SHOWN_MAX && html`<p class="quiet">and ${count(names.length - SHOWN_MAX)} more</p>`}
      ${names.length === 0 && html`<p class="quiet">no member yet</p>`}
    </div>
  </section>`;
}
