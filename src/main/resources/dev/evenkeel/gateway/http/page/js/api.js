import { useEffect, useState } from './lib.js';

/** A refusal of the node: `message` is a sentence to show, `status` the HTTP status (0: no answer), `error` its code. */
export class Refused extends Error {
  constructor(status, error, message) {
    super(message);
    this.status = status;
    this.error = error;
  }
}

/** The address of a request: apiPath('topics', 'orders') gives `api/topics/orders`. */
export const apiPath = (...parts) => `api/${parts.map(encodeURIComponent).join('/')}`;

/**
 * Sends a request to the node, and gives its answer as JSON, or null if it has no body.
 *
 * @param path relative to the page, as `apiPath` makes it
 * @throws Refused if the node refuses it or does not answer
 */
export const ask = async (method, path, body, signal) => (await answerOf(method, path, body, signal)).said;

/** As `ask`, but gives `{ said, headers }`. */
export async function answerOf(method, path, body, signal) {
  let answer;
  let said;
  try {
    answer = await fetch(new URL(path, document.baseURI), {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      cache: 'no-store',
      signal,
    });
    const text = await answer.text();
    said = text === '' ? null : JSON.parse(text);
  } catch (e) {
    throw new Refused(0, 'NO_ANSWER', 'The node does not answer.');
  }
  if (!answer.ok) throw new Refused(answer.status, said?.error, said?.message ?? `The node answers with status ${answer.status}.`);
  return { said, headers: answer.headers };
}

/**
 * A hook: the answer to a GET, asked for again every so many milliseconds while the tab is visible,
 * and at once when the path changes.
 *
 * @param path null: nothing is asked
 * @param everyMillis 0: asks once
 * @return `{ data, failure, again }`: the last answer (null before the first), the last refusal or null, and a
 *     function that asks at once
 */
export function useAnswer(path, everyMillis = 0) {
  const [state, setState] = useState({ path: null, data: null, failure: null });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const gone = new AbortController();
    let timer = null;
    const look = async () => {
      if (!document.hidden) {
        try {
          const data = await ask('GET', path, undefined, gone.signal);
          if (!gone.signal.aborted) setState({ path, data, failure: null });
        } catch (failure) {
          if (!gone.signal.aborted) setState((old) => ({ path, data: old.path === path ? old.data : null, failure }));
        }
      }
      clearTimeout(timer);
      if (everyMillis > 0 && !gone.signal.aborted) timer = setTimeout(look, everyMillis);
    };
    const shown = () => {
      if (!document.hidden) look();
    };
    document.addEventListener('visibilitychange', shown);
    look();
    return () => {
      document.removeEventListener('visibilitychange', shown);
      clearTimeout(timer);
      gone.abort();
    };
  }, [path, everyMillis, turn]);
  const mine = state.path === path;
  return { data: mine ? state.data : null, failure: mine ? state.failure : null, again: () => setTurn((n) => n + 1) };
}
