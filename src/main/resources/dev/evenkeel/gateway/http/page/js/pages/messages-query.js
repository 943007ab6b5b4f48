import { html, useState } from '../lib.js';
import { link } from '../router.js';

/** Shards up to which all are read together. */
const TOGETHER_MAX = 32;
const LIMITS = ['20', '50', '100', '500'];
const FROM = [
  ['latest', 'the last ones'],
  ['earliest', 'the first ones'],
  ['offset', 'an offset'],
  ['at', 'a time'],
];

/**
 * What the part of the address after `?` asks for.
 *
 * @returns `shard` (null: all), `from`, `value`, `key` (null: any), `limit`, `follow`, the `options`
 *   of the command that prints the same, and all that as a `text`
 */
export function queryOf(query, shardsOfTopic) {
  const number = (text) => (/^\d{1,15}$/.test(text ?? '') ? Number(text) : null);
  const from = FROM.some(([name]) => name === query.from) ? query.from : query.offset !== undefined ? 'offset' : query.at !== undefined ? 'at' : 'latest';
  const shard = number(query.shard) ?? (shardsOfTopic > TOGETHER_MAX || from === 'offset' ? 0 : null);
  const key = query.key === undefined || query.key === '' ? null : query.key;
  const limit = LIMITS.includes(query.limit) ? Number(query.limit) : 50;
  const follow = query.follow === 'true';
  const value = from === 'offset' ? (number(query.offset) ?? 0) : from === 'at' ? (query.at ?? '') : null;
  const options = { shard, offset: follow || from !== 'offset' ? null : value, at: follow ? 'latest' : from === 'at' ? value : null, key, limit: follow ? null : limit, follow };
  return { shard, from, value, key, limit, follow, options, text: JSON.stringify([shard, from, value, key, limit, follow]) };
}

const Labelled = ({ name, label, children }) => html`<div class="labelled"><label for=${`query-${name}`}>${label}</label>${children}</div>`;

/** The form that makes another query. */
export function Query({ topic, wanted, shards }) {
  const [values, setValues] = useState({
    shard: wanted.shard === null ? '' : String(wanted.shard),
    from: wanted.from,
    offset: wanted.from === 'offset' ? String(wanted.value) : '',
    at: wanted.from === 'at' ? wanted.value : '',
    key: wanted.key ?? '',
    limit: String(wanted.limit),
  });
  const [wrong, setWrong] = useState(null);
  const set = (name) => (event) => setValues({ ...values, [name]: event.target.value });
  const go = (follow) => {
    const next = { shard: values.shard, from: values.from, key: values.key, limit: values.limit };
    if (values.from === 'offset') next.offset = values.offset.trim();
    if (values.from === 'at') next.at = values.at.trim();
    if (follow) next.follow = 'true';
    const bad = !follow && wrongOf(values);
    setWrong(bad || null);
    if (!bad) location.hash = link('topics', topic, 'messages', Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')));
  };
  const submit = (event) => {
    event.preventDefault();
    go(false);
  };
  const numbers = shards?.map((each) => each.shard) ?? (wanted.shard === null ? [] : [wanted.shard]);
  const select = (name, options) => html`<select id=${`query-${name}`} value=${values[name]} onChange=${set(name)}>
    ${options.map(([value, text]) => html`<option value=${value} selected=${values[name] === value}>${text}</option>`)}
  </select>`;
  const input = (name, more) => html`<input id=${`query-${name}`} autocomplete="off" spellcheck=${false} value=${values[name]} onInput=${set(name)} ...${more} />`;
  const together = numbers.length <= TOGETHER_MAX ? [['', 'all']] : [];
  return html`<form class="query" aria-label="Which messages" onSubmit=${submit} novalidate>
    <${Labelled} name="shard" label="Shard">${select('shard', [...together, ...numbers.map((shard) => [String(shard), shard])])}<//>
    <${Labelled} name="from" label="From">${select('from', FROM)}<//>
    ${values.from === 'offset' && html`<${Labelled} name="offset" label="Offset">${input('offset', { inputmode: 'numeric' })}<//>`}
    ${values.from === 'at' && html`<${Labelled} name="at" label="Time, UTC">${input('at', { class: 'wide', placeholder: '2026-01-31T12:00:00Z' })}<//>`}
    <${Labelled} name="key" label="Key">${input('key', { placeholder: 'any' })}<//>
    <${Labelled} name="limit" label="At most">${select('limit', LIMITS.map((limit) => [limit, limit]))}<//>
    <button type="submit" class="act">Show</button>
    <button type="button" class="act" aria-pressed=${String(wanted.follow)} onClick=${() => go(!wanted.follow)}>${wanted.follow ? 'Stop following' : 'Follow'}</button>
    <p class="wrong" role="alert">${wrong}</p>
  </form>`;
}

function wrongOf({ from, shard, offset, at }) {
  if (from === 'offset' && !/^\d{1,15}$/.test(offset.trim())) return `Offset is “${offset}”: write a whole number.`;
  if (from === 'offset' && shard === '') return 'Choose the shard of this offset.';
  return from === 'at' && Number.isNaN(Date.parse(at)) && !/^\d{1,15}$/.test(at.trim()) ? `Time is “${at}”: write one such as 2026-01-31T12:00:00Z.` : null;
}
