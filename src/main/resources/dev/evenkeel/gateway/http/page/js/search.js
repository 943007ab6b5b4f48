import { html, useEffect, useRef, useState } from './lib.js';
import { brief, figure } from './words.js';
import { byName } from './model.js';
import { link } from './router.js';

const SHOWN_MAX = 12;

/** Names that begin with what is wanted come first, then those that have it somewhere. */
const rank = (name, wanted) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : 2);

/** The topics and groups whose names have this text in them, whatever its case. */
export function find(state, text) {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return [];
  const found = (kind, things, page) =>
    Object.keys(things ?? {})
      .filter((name) => name.toLowerCase().includes(wanted))
      .map((name) => ({ kind, name, href: link(page, name), lag: kind === 'group' ? (things[name].lag ?? null) : undefined }));
  return [...found('topic', state.topics, 'topics'), ...found('group', state.groups, 'groups')].sort(
    (a, b) => rank(a.name.toLowerCase(), wanted) - rank(b.name.toLowerCase(), wanted) || byName(a.name, b.name) || byName(b.kind, a.kind),
  );
}

/** Whether a key belongs to what somebody types just now. */
const typing = (element) => element?.closest('input, textarea, select, [contenteditable]') !== null;

/** Finds topics and groups by a part of their name. The key / goes there from anywhere. */
export function Search({ state }) {
  const field = useRef(null);
  const [text, setText] = useState('');
  const [open, setOpen] = useState(false);
  const [at, setAt] = useState(0);
  useEffect(() => {
    const hurry = (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
      event.preventDefault();
      field.current.focus();
      field.current.select();
    };
    addEventListener('keydown', hurry);
    return () => removeEventListener('keydown', hurry);
  }, []);
  const all = state === null || !open ? [] : find(state, text);
  const shown = all.slice(0, SHOWN_MAX);
  const chosen = Math.min(at, shown.length - 1);
  const listed = open && text.trim() !== '';
  const leave = () => {
    setOpen(false);
    setText('');
    setAt(0);
  };
  const press = (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      if (shown.length > 0) setAt((chosen + (event.key === 'ArrowDown' ? 1 : -1) + shown.length) % shown.length);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      if (shown.length > 0) {
        location.hash = shown[chosen].href;
        leave();
      }
    } else if (event.key === 'Escape') {
      event.preventDefault();
      leave();
    }
  };
  return html`<div class="search" role="search">
    <input
      ref=${field}
      type="search"
      role="combobox"
      aria-label="Find a topic or group"
      aria-expanded=${String(listed)}
      aria-controls="found"
      aria-autocomplete="list"
      aria-activedescendant=${listed && shown.length > 0 ? `found-${chosen}` : undefined}
      aria-keyshortcuts="/"
      placeholder="Find a topic or group"
      autocomplete="off"
      spellcheck=${false}
      value=${text}
      onInput=${(event) => {
        setText(event.target.value);
        setOpen(true);
        setAt(0);
      }}
      onKeyDown=${press}
      onBlur=${() => setOpen(false)}
      onFocus=${() => setOpen(true)}
    />
    <kbd aria-hidden="true">/</kbd>
    <div class="found" hidden=${!listed}>
      <ul id="found" role="listbox" aria-label="Topics and groups">
        ${shown.map(
          (one, i) => html`<li
            key=${one.href}
            id=${`found-${i}`}
            role="option"
            aria-selected=${String(i === chosen)}
            onMouseDown=${(event) => {
              event.preventDefault();
              location.hash = one.href;
              leave();
            }}
          >
            <span class="kind">${one.kind}</span> <span class="name">${one.name}</span>
            ${one.lag !== undefined && html`<span class="lag"> lag ${figure(brief(one.lag))}</span>`}
          </li>`,
        )}
      </ul>
      ${listed && all.length === 0 && html`<p class="quiet" role="status">no topic or group has “${text.trim()}” in its name</p>`}
      ${all.length > SHOWN_MAX && html`<p class="quiet">and ${all.length - SHOWN_MAX} more: type more of the name</p>`}
    </div>
  </div>`;
}
