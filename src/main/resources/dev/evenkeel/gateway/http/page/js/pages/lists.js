import { html } from '../lib.js';
import { may } from '../rights.js';
import { Groups, Topics } from '../lists.js';
import { Logs, Nodes } from '../tables.js';

/** All topics. */
export const TopicsPage = ({ state, history }) => html`<div class="panels single"><${Topics} topics=${state.topics ?? {}} history=${history} tall=${true} /></div>`;

/** All groups. */
export const GroupsPage = ({ state, history }) => html`<div class="panels single"><${Groups} groups=${state.groups ?? {}} history=${history} tall=${true} /></div>`;

/** The nodes and log groups. */
export const ClusterPage = ({ state, account }) => {
  const { nodes = {}, logs = {}, dispatcher } = state.cluster ?? {};
  return html`<div class="panels single">
    <${Nodes} nodes=${nodes} logs=${logs} dispatcher=${dispatcher} tall=${true} acts=${may(account, 'admin', '')} />
    <${Logs} logs=${logs} tall=${true} />
  </div>`;
};
