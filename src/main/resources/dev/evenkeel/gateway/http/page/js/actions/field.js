import { html } from '../lib.js';

/**
 * One field of a form: `name`, `label`, `kind` (`text`, `lines`, `choice` with `options`, or `yes`),
 * `value` at the beginning, `hint`, and `when(values)`, which tells whether it is shown.
 */
export function Field({ field, values, first, onValue }) {
  if (field.when && !field.when(values)) return null;
  const id = `action-${field.name}`;
  const common = {
    id,
    'data-first': first ? '' : undefined,
    'aria-describedby': field.hint ? `${id}-hint` : undefined,
  };
  const input = (event) => onValue(event.target.value);
  return html`<div class="field" data-kind=${field.kind ?? 'text'}>
    ${field.kind === 'yes' && html`<input type="checkbox" ...${common} checked=${values[field.name] === true} onChange=${(event) => onValue(event.target.checked)} />`}
    <label for=${id}>${field.label}</label>
    ${field.kind === 'lines'
      ? html`<textarea rows=${field.rows ?? 4} spellcheck=${false} ...${common} value=${values[field.name]} onInput=${input}></textarea>`
      : field.kind === 'choice'
        ? html`<select ...${common} value=${values[field.name]} onChange=${input}>
            ${field.options.map(([value, text]) => html`<option value=${value} selected=${value === values[field.name]}>${text}</option>`)}
          </select>`
        : field.kind === 'yes'
          ? null
          : html`<input type="text" autocomplete="off" spellcheck=${false} ...${common} value=${values[field.name]} onInput=${input} />`}
    ${field.hint && html`<small id=${`${id}-hint`}>${field.hint}</small>`}
  </div>`;
}
