import { html, useState } from './lib.js';
import { brief, figure, known } from './words.js';
import { byName } from './model.js';
import { link } from './router.js';

const FILTER_FROM = 10;
const SHOWN_MAX = 200;

/** One link a group; a field to find one when there are many. */
export function Groups({ groups }) {
  const [wanted, setWanted] = useState('');
  const names = Object.keys(groups).sort(byName);
  const found = names.filter((name) => name.toLowerCase().includes(wanted.toLowerCase()));
  return html`<nav class="groups" aria-label="Groups">
    ${names.length > FILTER_FROM &&
    html`<input
      type="search"
      placeholder="find a group"
      aria-label="Find a group"
      value=${wanted}
      onInput=${(event) => setWanted(event.target.value)}
    />`}
    <ul>
      ${found.slice(0, SHOWN_MAX).map((name) => {
        const group = groups[name];
        const well = !known(group.status) || group.status === 'OK';
        return html`<li key=${name}>
          <a href=${link('groups', name)}>
            ${!well && html`<span class="warn" title="shards without an owner">▲<span class="unseen"> needs attention: </span></span>`}
            <span class="name">${name}</span>
            <span class="lag"><span class="unseen">lag </span>${figure(brief(group.lag))}</span>
          </a>
        </li>`;
      })}
    </ul>
    ${found.length > SHOWN_MAX && html`<p class="quiet">${found.length - SHOWN_MAX} more: find one by its name</p>`}
    ${wanted !== '' && found.length === 0 && html`<p class="quiet">no group is called so</p>`}
  </nav>`;
}
