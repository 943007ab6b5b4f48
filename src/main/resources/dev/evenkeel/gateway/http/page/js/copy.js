import { html, useEffect, useState } from './lib.js';

const SAID_MILLIS = 2500;

/** Puts a text into the clipboard; false if the browser does not allow that. */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch (e) {
    // Only pages over TLS and of this machine have a clipboard. The older way works everywhere.
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'unseen';
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    focused?.focus?.();
    return done;
  }
}

/** A button that copies a text, and says so for a moment. */
export function Copy({ text, children }) {
  const [said, setSaid] = useState('');
  useEffect(() => {
    if (said === '') return undefined;
    const timer = setTimeout(() => setSaid(''), SAID_MILLIS);
    return () => clearTimeout(timer);
  }, [said]);
  const click = async () => setSaid((await copy(typeof text === 'function' ? text() : text)) ? '✓ copied' : 'not copied: select it and copy it');
  return html`<button type="button" class="act" onClick=${click}>${children}</button><span class="quiet" role="status">${said}</span>`;
}
