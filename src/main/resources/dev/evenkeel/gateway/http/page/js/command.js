import { html, useRef, useState } from './lib.js';

/** A command that somebody is to type, and a button that copies it. Without a clipboard the button selects the text. */
export function Command({ text }) {
  const code = useRef(null);
  const [said, setSaid] = useState('');
  const copy = async () => {
    getSelection().selectAllChildren(code.current);
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch (e) {
      setSaid('Selected: copy it with the keyboard');
    }
  };
  return html`<p class="command">
    <code ref=${code}>${text}</code>
    <button type="button" onClick=${copy} aria-label=${`Copy the command ${text}`}>Copy</button>
    <span class="quiet" role="status">${said}</span>
  </p>`;
}
