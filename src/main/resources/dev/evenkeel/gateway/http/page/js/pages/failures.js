import { html, memo, useEffect, useRef, useState } from '../lib.js';
import { ActionButton } from '../actions/dialog.js';
import { drop, replay } from '../actions/letters.js';
import { apiPath, ask } from '../api.js';
import { Failures } from '../failures.js';
import { Payload, textOf } from '../payload-view.js';
import { command } from '../payload.js';
import { Retries } from '../retries.js';
import { may } from '../rights.js';
import { link } from '../router.js';
import { count, figure, moment, plural } from '../words.js';

const PAGE = 50;
const KEPT_MAX = 1000;

const nameOf = (letter) => `${letter.topic}/${letter.shard}/${letter.offset}`;
const when = (instant) => moment(Date.parse(instant));

function Opened({ letter, reads }) {
  const { topic, shard, offset } = letter;
  const own = command(topic, { shard, offset, limit: 1, format: 'text' });
  return html`<div class="opened">
    <p class="kind">error of the last attempt</p>
    <pre class="mono error" tabindex="0" role="region" aria-label="Error">${letter.error}</pre>
    <dl class="rows">
      <div><dt>attempts</dt><dd>${count(letter.attempts)}</dd></div>
      <div><dt>first failed</dt><dd>${when(letter.firstFailed)} <span class="quiet">UTC</span></dd></div>
      <div><dt>last failed</dt><dd>${when(letter.lastFailed)} <span class="quiet">UTC</span></dd></div>
    </dl>
    <${Payload} id=${nameOf(letter)} message=${letter} whole=${own} />
    ${reads && html`<p><a href=${link('topics', topic, 'messages', { shard, from: 'offset', offset })}>Show it among the messages of ${topic}</a></p>`}
  </div>`;
}

function Letter({ letter, chosen, onChoose, reads, acts }) {
  const [open, setOpen] = useState(false);
  const name = nameOf(letter);
  const key = textOf(letter, 'key');
  return html`<li class="letter">
    ${acts && html`<input type="checkbox" aria-label=${`Choose ${name}`} checked=${chosen} onChange=${(event) => onChoose(event.target.checked)} />`}
    <details class="message" onToggle=${(event) => setOpen(event.target.open)}>
      <summary>
        <span class="mono at">${name}</span>
        <span class="time quiet">${when(letter.lastFailed)}</span>
        <span class="mono key">${key === null ? html`<span class="quiet">no key</span>` : html`<span class="unseen">key </span>${key}`}</span>
        <span class="brief"><span class="quiet">${plural(letter.attempts, 'attempt')}:</span> ${letter.error.split('\n')[0]}</span>
      </summary>
      ${open && html`<${Opened} letter=${letter} reads=${reads} />`}
    </details>
  </li>`;
}

/** The live state changes all the time, and draws the page again: but not these. */
const List = memo(
  ({ letters, chosen, choose, account, acts, busy }) => html`<ul class="messages letters" aria-label="Dead letters" aria-busy=${String(busy)}>
    ${letters.map((letter) => {
      const name = nameOf(letter);
      return html`<${Letter} key=${name} letter=${letter} chosen=${chosen.has(name)} onChoose=${(on) => choose([name], on)} reads=${may(account, 'consume', letter.topic)} acts=${acts} />`;
    })}
  </ul>`,
  (a, b) => a.letters === b.letters && a.chosen === b.chosen && a.acts === b.acts && a.busy === b.busy,
);

/**
 * The first dead letters of a group, read again when their number changes.
 *
 * @param number of dead letters in the live state
 * @returns `{letters, ended, failure, busy, more}`
 */
function useLetters(group, number, allowed) {
  const [view, setView] = useState({ letters: [], ended: false, failure: null, busy: true });
  const length = useRef(PAGE);
  const turn = useRef(0);
  const read = async () => {
    const mine = ++turn.current;
    const put = (change) => mine === turn.current && setView((old) => ({ ...old, ...change }));
    put({ busy: true });
    try {
      const letters = [];
      let some = null;
      while (letters.length < length.current && some?.length !== 0) {
        const after = letters.length === 0 ? {} : { after: nameOf(letters.at(-1)) };
        some = await ask('GET', `${apiPath('groups', group, 'dead-letters')}?${new URLSearchParams({ ...after, limit: Math.min(PAGE, length.current - letters.length) })}`);
        letters.push(...some);
      }
      put({ letters, ended: some?.length === 0, failure: null, busy: false });
    } catch (failure) {
      put({ failure, busy: false });
    }
  };
  useEffect(() => {
    if (allowed) read();
    return () => {
      turn.current++;
    };
  }, [group, number, allowed]);
  return {
    ...view,
    more: () => {
      length.current = Math.min(KEPT_MAX, length.current + PAGE);
      read();
    },
  };
}

/** What failed in a group, and what an operator can do about it. */
export function FailuresPage({ params: { group }, state, account }) {
  const live = state?.groups?.[group];
  const number = live?.failures?.deadLetters ?? 0;
  const waiting = (live?.failures?.retriesWaiting ?? 0) + (live?.failures?.parked ?? 0);
  const allowed = may(account, 'group', group) || may(account, 'admin', group);
  const acts = may(account, 'admin', group);
  const { letters, ended, failure, busy, more } = useLetters(group, number, allowed);
  const [chosen, setChosen] = useState(new Set());
  const names = letters.map(nameOf);
  const some = names.filter((name) => chosen.has(name));
  const choose = (wanted, on) => {
    setChosen((now) => {
      const next = new Set(now);
      wanted.forEach((name) => (on ? next.add(name) : next.delete(name)));
      return next;
    });
  };
  const clear = () => setChosen(new Set());
  if (account.known && !allowed)
    return html`<p class="empty">The user “${account.user}” may not see these messages: it needs the permission group:${group} or admin:${group}.</p>`;
  return html`<div class="failing">
    ${live?.failures ? html`<${Failures} group=${group} failures=${live.failures} />` : live && html`<p class="quiet">Nothing waits for another attempt.</p>`}
    <${Retries} group=${group} waiting=${allowed ? waiting : 0} reads=${(topic) => may(account, 'consume', topic)} />
    <section class="panel" aria-labelledby="letters-title">
      <h2 id="letters-title">Dead letters</h2>
      ${failure && html`<p class="notice" role="alert">${failure.message}</p>`}
      ${acts &&
      letters.length > 0 &&
      html`<div class="acts" role="group" aria-label="Actions for dead letters">
        <label class="all"><input type="checkbox" checked=${some.length === names.length} indeterminate=${some.length > 0 && some.length < names.length} onChange=${(event) => choose(names, event.target.checked)} />${some.length === 0 ? 'Choose all shown' : `${count(some.length)} chosen`}</label>
        ${some.length > 0
          ? html`<${ActionButton} action=${() => replay(group, some, clear)}>Replay ${count(some.length)}<//><${ActionButton} action=${() => drop(group, some, clear)}>Drop ${count(some.length)}<//>`
          : html`<${ActionButton} action=${() => replay(group, null)}>Replay all<//><${ActionButton} action=${() => drop(group, null)}>Drop all<//>`}
      </div>`}
      <${List} letters=${letters} chosen=${chosen} choose=${choose} account=${account} acts=${acts} busy=${busy} />
      <div class="tools">
        <p class="quiet" role="status">${busy && letters.length === 0 ? 'Reading …' : letters.length === 0 ? (failure ? '' : 'There are no dead letters.') : `${count(letters.length)} of ${figure(count(Math.max(number, letters.length)))}`}</p>
        ${!busy && !ended && letters.length >= PAGE && letters.length !== number && letters.length < KEPT_MAX && html`<button type="button" class="act" onClick=${more}>More</button>`}
        ${letters.length >= KEPT_MAX && html`<p class="quiet">More than ${count(KEPT_MAX)}: <code>evenkeel group dead-letters list ${group}</code></p>`}
      </div>
    </section>
  </div>`;
}
