import { html, memo, useEffect, useRef, useState } from '../lib.js';
import { Copy } from '../copy.js';
import { Payload, textOf } from '../payload-view.js';
import { brief, command } from '../payload.js';
import { Reader, shardsOf } from '../reader.js';
import { may } from '../rights.js';
import { link } from '../router.js';
import { count, figure, moment, plural } from '../words.js';
import { Query, queryOf } from './messages-query.js';

/** Messages that are kept on the page; older ones make room. */
const KEPT_MAX = 1000;
const PREVIEW_CHARS = 240;
/** Before new messages are read, when the live state tells of some, and when it does not. */
const NEWS_MILLIS = 100;
const QUIET_MILLIS = 2000;

function Message({ topic, message, range }) {
  const [open, setOpen] = useState(false);
  const { shard, offset } = message;
  const key = textOf(message, 'key');
  return html`<li>
    <details class="message" onToggle=${(event) => setOpen(event.target.open)}>
      <summary>
        <span class="mono at">${shard}<span class="quiet">/</span>${offset}</span>
        <span class="time quiet">${figure(moment(message.timestamp))}</span>
        <span class="mono key">${key === null ? html`<span class="quiet">no key</span>` : html`<span class="unseen">key </span>${key}`}</span>
        <span class="mono brief">${message.unreadable ? html`<span class="capped">▲ cannot be read</span>` : brief(message, PREVIEW_CHARS)}</span>
      </summary>
      ${open && html`<${Opened} topic=${topic} message=${message} range=${range} />`}
    </details>
  </li>`;
}

function Opened({ topic, message, range }) {
  const { shard, offset, headers, logGroup, logIndex } = message;
  const names = Object.keys(headers ?? {});
  const own = command(topic, { shard, offset, limit: 1 });
  return html`<div class="opened">
    ${message.unreadable
      ? html`<p class="capped">${message.unreadable}</p>`
      : html`<${Payload} id=${`${shard}-${offset}`} message=${message} whole=${`${own} --format text`} />`}
    <dl class="rows">
      <div><dt>offset</dt><dd>${count(offset)}${range && offset < range.end && html` <span class="quiet">of ${count(range.start)} to ${count(range.end - 1)}</span>`}</dd></div>
      <div><dt>in the log</dt><dd>${figure(logGroup === undefined ? null : html`<span class="mono">${logGroup}</span>, entry ${count(logIndex)}`)}</dd></div>
      <div><dt>timestamp</dt><dd>${figure(moment(message.timestamp))}${message.timestamp !== null && html` <span class="quiet">UTC</span>`}</dd></div>
    </dl>
    ${names.length > 0 &&
    html`<dl class="rows" aria-label="Headers">
      ${names.map((name) => html`<div><dt class="mono">${name}</dt><dd class="mono">${typeof headers[name] === 'string' ? headers[name] : textOf({ valueBase64: headers[name].base64 }, 'value')}</dd></div>`)}
    </dl>`}
    <div class="tools"><code>${own}</code><${Copy} text=${own}>Copy command<//></div>
  </div>`;
}

/** The live state changes all the time, and draws the page again: but not these. */
const List = memo(({ topic, messages, newestFirst, shards, busy }) => {
  const range = (shard) => shards?.find((each) => each.shard === shard);
  return html`<ul class="messages" aria-label=${newestFirst ? 'Messages, newest first' : 'Messages'} aria-busy=${String(busy)}>
    ${(newestFirst ? [...messages].reverse() : messages).map(
      (message) => html`<${Message} key=${`${message.shard}/${message.offset}`} topic=${topic} message=${message} range=${range(message.shard)} />`,
    )}
  </ul>`;
});

/** Where in the kept part of a shard the shown messages are. */
function Place({ messages, range }) {
  if (messages.length === 0 || range.end <= range.start) return null;
  const offsets = messages.map((message) => message.offset);
  const [first, last] = [Math.min(...offsets), Math.max(...offsets)];
  const share = (offset) => (Math.min(Math.max(offset - range.start, 0), range.end - range.start) / (range.end - range.start)) * 100;
  const width = Math.max(0.6, share(last + 1) - share(first));
  return html`<div class="place">
    <span class="quiet">${count(range.start)}</span>
    <svg viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=${`Offsets ${first} to ${last} of ${range.start} to ${range.end - 1}`}>
      <rect class="track" width="100" height="4" /><rect class="part" x=${Math.min(share(first), 100 - width)} width=${width} height="4" />
    </svg>
    <span class="quiet">${count(range.end - 1)}</span>
  </div>`;
}

/**
 * Reads what the query asks for; another query begins anew.
 *
 * @param live the topic in the live state: `end`, the sum of the ends of all shards, and the number of `shards`
 * @param allowed false: it reads nothing
 */
function useMessages(topic, wanted, { end, shards: number }, allowed) {
  const empty = { shards: null, messages: [], ended: false, failure: null, busy: true };
  const [view, setView] = useState(empty);
  const reader = useRef(null);
  const turn = useRef(null);
  /** The end at the last read of new messages. */
  const readEnd = useRef(null);

  /** One at a time: whoever comes meanwhile is not needed. */
  const read = async (prepare) => {
    const mine = new AbortController();
    turn.current?.abort();
    turn.current = mine;
    const put = (change) => mine.signal.aborted || setView((old) => ({ ...old, ...change(old) }));
    put(() => ({ busy: true }));
    try {
      await prepare?.(mine.signal, put);
      const { messages, ended } = await reader.current.more(mine.signal);
      put((old) => ({ messages: [...old.messages, ...messages].slice(-KEPT_MAX), ended, failure: null, busy: false }));
    } catch (failure) {
      put(() => ({ failure, busy: false }));
    }
  };

  const begin = () =>
    read(async (signal, put) => {
      const shards = await shardsOf(topic, signal);
      const numbers = wanted.shard === null ? shards.map((each) => each.shard) : [wanted.shard];
      reader.current = new Reader(topic, numbers, wanted.key, wanted.limit);
      reader.current.seek(wanted.follow ? 'end' : wanted.from, wanted.value, shards);
      put(() => ({ shards, messages: [], ended: false }));
    });

  useEffect(() => {
    setView(empty);
    if (allowed) begin();
    return () => turn.current?.abort();
  }, [topic, wanted.text, allowed, wanted.shard === null && number]);

  // New messages are read when the live state tells that there are some.
  useEffect(() => {
    if (!wanted.follow || view.busy) return undefined;
    if (view.shards === null) {
      const again = setTimeout(begin, QUIET_MILLIS);
      return () => clearTimeout(again);
    }
    if (view.failure?.error === 'OFFSET_OUT_OF_RANGE') {
      begin();
      return undefined;
    }
    const news = view.failure === null && (end !== readEnd.current || !view.ended);
    const timer = setTimeout(
      () => {
        readEnd.current = end;
        read();
      },
      news ? NEWS_MILLIS : QUIET_MILLIS,
    );
    return () => clearTimeout(timer);
    // After a failure, what comes does not put the next attempt off.
  }, [view.failure === null && view.shards !== null && end, view.busy && wanted.follow]);

  return { ...view, more: () => (view.shards === null ? begin() : read()) };
}

/** The command line has no last messages, but an offset or a time from which on. */
const sinceFirst = (messages, one) => (one ? { offset: messages[0].offset } : { at: Math.min(...messages.map((message) => message.timestamp ?? Infinity)) });

/** The messages of a topic. */
export function Messages({ params: { topic }, query, state, account }) {
  const facts = state?.topics?.[topic];
  const wanted = queryOf(query, facts?.shards ?? 1);
  const allowed = may(account, 'consume', topic);
  const { shards, messages, ended, failure, busy, more } = useMessages(topic, wanted, facts ?? {}, allowed);
  if (!allowed)
    return account.known && html`<p class="empty">The user “${account.user}” may not read these messages: it needs the permission consume:${topic}.</p>`;
  const range = (shard) => shards?.find((each) => each.shard === shard);
  const one = wanted.shard !== null ? range(wanted.shard) : shards?.length === 1 ? shards[0] : undefined;
  const older = one && messages.length > 0 && wanted.key === null && messages[0].offset > one.start ? Math.max(one.start, messages[0].offset - wanted.limit) : null;
  const whole = command(topic, wanted.from === 'latest' && !wanted.follow && messages.length > 0 ? { ...wanted.options, ...sinceFirst(messages, one) } : wanted.options);
  return html`<section class="panel reading" aria-labelledby="messages-title">
    <h2 id="messages-title">Messages</h2>
    <${Query} key=${wanted.text} topic=${topic} wanted=${wanted} shards=${shards} />
    ${failure && html`<p class="notice" role="alert">${failure.message}</p>`}
    ${one && html`<${Place} messages=${messages} range=${one} />`}
    ${older !== null && !wanted.follow && html`<p><a class="act" href=${link('topics', topic, 'messages', { ...query, from: 'offset', offset: older })}>Older messages</a></p>`}
    <${List} topic=${topic} messages=${messages} newestFirst=${wanted.follow} shards=${shards} busy=${busy} />
    <div class="tools">
      ${wanted.follow
        ? html`<p class="quiet">${messages.length === 0 ? 'Waiting for new messages …' : `${plural(messages.length, 'new message')}, newest first. More come by themselves.`}</p>`
        : html`<p class="quiet" role="status">
              ${busy ? 'Reading …' : failure ? '' : ended ? (messages.length === 0 ? 'There are no such messages.' : 'This is the end for now.') : `${plural(messages.length, 'message')}. There are more.`}
            </p>
            ${!busy && html`<button type="button" class="act" onClick=${more}>${failure ? 'Try again' : ended ? 'Look again' : wanted.key !== null && messages.length === 0 ? 'Search on' : 'More'}</button>`}`}
    </div>
    <p class="tools"><span class="quiet">On the command line:</span> <code>${whole}</code><${Copy} text=${whole}>Copy command<//></p>
  </section>`;
}
