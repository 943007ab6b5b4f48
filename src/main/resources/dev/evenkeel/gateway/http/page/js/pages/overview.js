import { html } from '../lib.js';
import { Groups } from '../groups.js';
import { may } from '../rights.js';
import { Logs, Nodes, Topics } from '../tables.js';

/** The whole cluster at a glance. */
export function Overview({ state, account, history, tick }) {
  const groups = state.groups ?? {};
  return html`${Object.keys(groups).length === 0
      ? html`<div class="empty">
          <p>No group of consumers yet. Start one:</p>
          <p><code>java -jar evenkeel.jar consume TOPIC --group NAME</code></p>
        </div>`
      : html`<${Groups} groups=${groups} />`}
    <div class="panels">
      <${Topics} topics=${state.topics ?? {}} history=${history} tick=${tick} />
      <${Logs} logs=${state.cluster?.logs ?? {}} />
      <section class="panel" aria-label="Nodes">
        <h2>Nodes</h2>
        <${Nodes} nodes=${state.cluster?.nodes ?? {}} acts=${may(account, 'admin', '')} />
      </section>
    </div>`;
}
