import { html } from '../lib.js';
import { apiPath, useAnswer } from '../api.js';
import { may } from '../rights.js';
import { Groups, Topics } from '../lists.js';
import { Table } from '../table.js';
import { Logs, Nodes } from '../tables.js';
import { count } from '../words.js';

const SHARES_MILLIS = 5_000;

/** All topics. */
export const TopicsPage = ({ state, history }) => html`<div class="panels single"><${Topics} topics=${state.topics ?? {}} history=${history} tall=${true} /></div>`;

/** All groups. */
export const GroupsPage = ({ state, history }) => html`<div class="panels single"><${Groups} groups=${state.groups ?? {}} history=${history} tall=${true} /></div>`;

/** What users hold of what is scarce. */
function Shares() {
  const { data } = useAnswer(apiPath('shares'), SHARES_MILLIS);
  const columns = [
    { name: 'User', sortable: true },
    { name: 'Kind', sortable: true },
    { name: 'Node', sortable: true },
    { name: 'Held', num: true, sortable: true },
    { name: 'Limit of all', num: true, sortable: true },
  ];
  const rows = (data ?? []).map(({ user, kind, node, held, limit }) => ({
    key: `${user} ${kind} ${node}`,
    cells: [user, kind, node, count(held), count(limit)],
    sort: [user, kind, node, held, limit],
  }));
  return html`<${Table} label="What users hold" columns=${columns} rows=${rows} empty=${data === null ? 'Asking the nodes…' : 'Nobody holds anything.'} />`;
}

/** The nodes and log groups, and the users if there are any. */
export const ClusterPage = ({ state, account }) => {
  const { nodes = {}, logs = {}, dispatcher } = state.cluster ?? {};
  return html`<div class="panels single">
    <${Nodes} nodes=${nodes} logs=${logs} dispatcher=${dispatcher} tall=${true} acts=${may(account, 'admin', '')} />
    <${Logs} logs=${logs} tall=${true} />
    ${account.user !== null && html`<${Shares} />`}
  </div>`;
};
