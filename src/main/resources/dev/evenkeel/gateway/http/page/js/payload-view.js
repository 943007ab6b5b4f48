import { html, useState } from './lib.js';
import { Copy } from './copy.js';
import { bytesOf, FORMS, formsOf, hex, render } from './payload.js';
import { bytes } from './words.js';

/** Text of a field that may be no text. */
export function textOf(json, field) {
  const all = bytesOf(json, field);
  return all === null ? null : json[`${field}Base64`] === undefined ? json[field] : hex(all).split('\n').map((line) => line.slice(8, 55).trim()).join(' ');
}

/**
 * A payload as JSON, text or hex.
 *
 * @param id unique on the page
 * @param whole the command that prints all of it
 */
export function Payload(shown) {
  return bytesOf(shown.message) === null
    ? html`<p class="quiet">You need the permission <code>group:GROUP</code> or <code>consume:TOPIC</code> to see the payload.</p>`
    : html`<${Readable} ...${shown} />`;
}

function Readable({ id, message, whole }) {
  const forms = formsOf(message);
  const [chosen, setChosen] = useState(forms[0]);
  const { text, shown, bytes: size } = render(message, chosen);
  return html`<div class="payload">
    <div class="tools">
      <fieldset class="forms">
        <legend class="unseen">Show the payload as</legend>
        ${FORMS.filter(([form]) => forms.includes(form)).map(
          ([form, name]) => html`<label><input type="radio" name=${`${id}-form`} checked=${form === chosen} onChange=${() => setChosen(form)} />${name}</label>`,
        )}
      </fieldset>
      <span class="quiet">${bytes(size)}</span>
      <${Copy} text=${text}>Copy ${shown < size ? 'this part' : 'payload'}<//>
    </div>
    <pre class="mono" tabindex="0" role="region" aria-label="Payload">${text}</pre>
    ${shown < size && html`<p class="cut"><span aria-hidden="true">✂ </span>These are the first ${bytes(shown)} of ${bytes(size)}. To get the whole payload: <code>${whole}</code></p>`}
  </div>`;
}
