import { html, useEffect, useLayoutEffect, useReducer, useRef, useState } from '../lib.js';
import { mayRun, start, step } from './action.js';
import { Field } from './field.js';

const UNSURE = 'Nobody knows whether it happened: look before you do it again.';

let shown = null;
let tell = () => {};

/**
 * Opens the dialog of an action: an object with
 *
 * - `title`, and `verb`, the word on the button that does it
 * - `fields()`: gives the fields of the form, or a promise of them; empty: no form
 * - `wrong(values)`: gives what is wrong with the form, or null
 * - `look(values)`: a promise of the effect, and changes nothing: `says` (sentences), `table` (`head`
 *   and `rows`), `confirm` (what somebody must type who drops data) and `refused` (why the node would
 *   not do it); all may be left out
 * - `run(values, effect)`: does it, and promises what to say then: `says`, and perhaps `table` and `link`
 */
export function open(action) {
  shown = { action, key: (shown?.key ?? 0) + 1, open: true };
  tell();
}

/** Where the open dialog is drawn: once on the page. */
export function Actions() {
  const [, redraw] = useState(0);
  useEffect(() => {
    tell = () => redraw((n) => n + 1);
    tell();
    return () => {
      tell = () => {};
      // Whoever logs in next did not open it.
      if (shown !== null) shown = { ...shown, open: false };
    };
  }, []);
  const close = (key) => {
    if (shown.key !== key) return;
    shown = { ...shown, open: false };
    tell();
  };
  const key = shown?.key;
  return shown?.open && html`<${Dialog} key=${key} action=${shown.action} onClose=${() => close(key)} />`;
}

/** A button that opens the dialog of an action. */
export const ActionButton = ({ action, children, label }) =>
  html`<button type="button" class="act" aria-haspopup="dialog" aria-label=${label} onClick=${() => open(action())}>${children}</button>`;

/** Asks the node in the phases that wait for it, and says what came. */
function useAsking(action, state, tellOf) {
  useEffect(() => {
    const ask = {
      loading: async () => ({ type: 'loaded', fields: await action.fields() }),
      looking: async () => ({ type: 'found', effect: await action.look(state.values) }),
      running: async () => ({ type: 'done', result: await action.run(state.values, state.effect) }),
    }[state.phase];
    if (!ask) return undefined;
    let gone = false;
    ask()
      .catch((failure) => ({ type: 'refused', reason: reasonOf(failure, state.phase) }))
      .then((event) => gone || tellOf(event));
    return () => {
      gone = true;
    };
  }, [state.phase]);
}

function reasonOf(failure, phase) {
  const words = sentence(failure.message);
  return failure.status === 0 && phase === 'running' ? `${words} ${UNSURE}` : words;
}

/** With a capital letter and a full stop. */
const sentence = (words) => (/[.!?…]$/.test(words) ? words : `${words}.`).replace(/^[a-z]/, (letter) => letter.toUpperCase());

function Dialog({ action, onClose }) {
  const [state, tellOf] = useReducer(step, undefined, start);
  const dialog = useRef(null);
  const before = useRef(document.activeElement);
  useAsking(action, state, tellOf);
  useLayoutEffect(() => {
    const element = dialog.current;
    element.showModal();
    return () => {
      // What is behind an open dialog takes no focus. Its button may be gone.
      element.close();
      const button = before.current;
      (button?.isConnected && button !== document.body ? button : document.getElementById('heading'))?.focus();
    };
  }, []);
  useLayoutEffect(() => dialog.current.querySelector('[data-first]')?.focus(), [state.phase]);
  const waits = state.phase === 'running';
  return html`<dialog
    ref=${dialog}
    class="action"
    aria-labelledby="action-title"
    onCancel=${(event) => (waits ? event.preventDefault() : undefined)}
    onClose=${onClose}
  >
    <h2 id="action-title">${action.title}</h2>
    ${state.phase === 'form'
      ? html`<${Form} action=${action} state=${state} tellOf=${tellOf} onClose=${onClose} />`
      : html`<${Course} action=${action} state=${state} tellOf=${tellOf} onClose=${onClose} />`}
    <p class="unseen" role="status">${{ loading: 'Reading', looking: 'Looking what it would do', running: 'Working' }[state.phase] ?? ''}</p>
  </dialog>`;
}

const Wrong = ({ state }) => html`<p class="wrong" role="alert">${state.wrong && html`<span aria-hidden="true">▲ </span>`}${state.wrong}</p>`;

function Form({ action, state, tellOf, onClose }) {
  const submit = (event) => {
    event.preventDefault();
    tellOf({ type: 'look', wrong: action.wrong?.(state.values) ?? null });
  };
  return html`<form onSubmit=${submit} novalidate>
    ${state.fields.map((field, i) => html`<${Field} key=${field.name} field=${field} first=${state.last === null ? i === 0 : field.name === state.last} values=${state.values} onValue=${(value) => tellOf({ type: 'field', name: field.name, value })} />`)}
    <${Wrong} state=${state} />
    <div class="choices">
      <button type="submit">Show what it does</button>
      <button type="button" class="plain" onClick=${onClose}>Cancel</button>
    </div>
  </form>`;
}

/** Everything after the form. */
function Course({ action, state, tellOf, onClose }) {
  const submit = (event) => {
    event.preventDefault();
    tellOf({ type: 'run' });
  };
  const { phase, effect } = state;
  const form = state.fields.length > 0;
  return html`<form onSubmit=${submit} novalidate>
    ${(phase === 'loading' || phase === 'looking') && html`<p class="quiet" data-first tabindex="-1">Asking the node …</p>`}
    ${(phase === 'preview' || phase === 'running') && html`<${Shown} facts=${effect} />`}
    ${phase === 'preview' && effect.refused && html`<p class="wrong" role="alert"><span aria-hidden="true">▲ </span>${sentence(effect.refused)}</p>`}
    ${phase === 'preview' && effect.confirm && !effect.refused && html`<${Confirm} word=${effect.confirm} state=${state} tellOf=${tellOf} />`}
    ${phase === 'done' && html`<${Shown} facts=${state.result} done />`}
    ${phase === 'failed' && html`<${Wrong} state=${state} />`}
    <div class="choices">
      ${(phase === 'preview' || phase === 'running') &&
      !effect.refused &&
      html`<button type="submit" class=${effect.confirm ? 'drops' : ''} data-first=${effect.confirm ? undefined : ''} aria-disabled=${String(!mayRun(state))}>
        ${phase === 'running' ? 'Working …' : action.verb}
      </button>`}
      ${phase === 'done'
        ? html`${state.result.link && html`<a href=${state.result.link.href} onClick=${onClose}>${state.result.link.text}</a>`}
            <button type="button" data-first onClick=${onClose}>Close</button>`
        : html`${((phase === 'preview' && form) || phase === 'failed') &&
              html`<button type="button" class="plain" data-first=${phase === 'failed' || effect?.refused ? '' : undefined} onClick=${() => tellOf({ type: 'back' })}>${phase === 'failed' && !form ? 'Try again' : 'Back'}</button>`}
            ${phase !== 'running' && html`<button type="button" class="plain" onClick=${onClose}>Cancel</button>`}`}
    </div>
  </form>`;
}

function Confirm({ word, state, tellOf }) {
  return html`<div class="field">
    <label for="action-confirm">This drops data. To go on, type <code>${word}</code></label>
    <input id="action-confirm" data-first autocomplete="off" spellcheck=${false} value=${state.typed} onInput=${(event) => tellOf({ type: 'typed', text: event.target.value })} />
  </div>`;
}

/** An effect or a result. */
function Shown({ facts, done = false }) {
  const { says = [], table } = facts;
  return html`<div class=${done ? 'shown done' : 'shown'} role=${done ? 'status' : undefined}>
    ${says.map((line, i) => html`<p>${done && i === 0 ? html`<span aria-hidden="true">✓ </span>` : null}${line}</p>`)}
    ${table &&
    html`<div class="scroll" role="region" tabindex="0" aria-label="What changes">
      <table>
        <thead><tr>${table.head.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${table.rows.map((row) => html`<tr>${row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td>${cell}</td>`))}</tr>`)}</tbody>
      </table>
    </div>`}
  </div>`;
}
