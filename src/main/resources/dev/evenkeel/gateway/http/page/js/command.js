import { html } from './lib.js';
import { Copy } from './copy.js';

/** A command that somebody is to type, and a button that copies it. */
export const Command = ({ text }) => html`<p class="command">
  <code>${text}</code>
  <${Copy} text=${text}>Copy<span class="unseen"> the command ${text}</span><//>
</p>`;
