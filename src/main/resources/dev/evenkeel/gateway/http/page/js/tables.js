import { html, memo } from './lib.js';
import { bytes, clock, count, figure, known, millis, plural } from './words.js';
import { byName } from './model.js';
import { NodeActions } from './actions/bars.js';
import { link } from './router.js';
import { Table } from './table.js';

const MOVES_SHOWN_MAX = 50;
/** Moves that are drawn at first: on a phone each is a block. */
const MOVES_AT_FIRST = 12;

export const Nobody = () => html`<span class="quiet">nobody</span>`;

/** The last moves of a group. */
export const Moves = memo(
  ({ moves, group }) => {
    const keys = Object.keys(moves)
      .filter((key) => moves[key].group === group)
      .sort((a, b) => b - a);
    const rows = keys.slice(0, MOVES_SHOWN_MAX).map((key) => moveRow(key, moves[key]));
    return html`<${Table} label="Recent moves" empty="No shard has moved yet." columns=${MOVE_COLUMNS} rows=${rows} first=${MOVES_AT_FIRST}>
      ${keys.length > 0 && html`<p class="aside"><a href=${link('groups', group, 'moves')}>All moves over time</a></p>`}
    <//>`;
  },
  (a, b) => a.moves === b.moves && a.group === b.group,
);

export const MOVE_COLUMNS = [
  { name: 'time', sortable: true },
  { name: 'shard', mono: true, sortable: true },
  { name: 'from → to', mono: true },
  { name: 'reason', sortable: true },
  { name: 'pause', num: true, sortable: true },
  { name: 'release', num: true, sortable: true },
  { name: 'redelivered', num: true, sortable: true },
  { name: 'epoch', num: true, sortable: true },
];

/**
 * @param when the time as text, if the time of day is not enough
 */
export function moveRow(key, move, when = clock(move.time)) {
  return {
    key,
    id: key,
    sort: [Date.parse(move.time), `${move.topic}/${move.shard}`, null, move.reason, move.pauseMs, move.releaseMs, move.redelivered, move.epoch],
    cells: [
      figure(when),
      `${move.topic}/${move.shard}`,
      html`${move.from ?? html`<${Nobody} />`} <span class="quiet">→</span> ${move.to ?? html`<${Nobody} />`}`,
      html`${figure(move.reason)}${move.capped ? html` <span class="capped" title="the old owner did not let go in time, and lost the shard">cap hit</span>` : null}`,
      figure(millis(move.pauseMs)),
      figure(millis(move.releaseMs)),
      figure(count(move.redelivered)),
      figure(count(move.epoch)),
    ],
  };
}

const alive = (node) => (node.alive === true ? ['●', 'up'] : node.alive === false ? ['✕', 'down'] : [null, null]);

const NODE_COLUMNS = [
  { name: 'node', mono: true, sortable: true },
  { name: 'state' },
  { name: 'host' },
  { name: 'zone' },
  { name: 'version' },
  { name: 'leads' },
  { name: 'messages kept', num: true, sortable: true },
  { name: 'disk free', num: true, sortable: true },
];

function Free({ node }) {
  const low = known(node.diskFreeBytes) && node.diskFreeBytes < 2 * node.diskFreeBytesMin;
  return low
    ? html`<span class="capped" title=${`the node refuses messages below ${bytes(node.diskFreeBytesMin)}`}><span aria-hidden="true">▲ </span>${bytes(node.diskFreeBytes)}</span>`
    : figure(bytes(node.diskFreeBytes));
}

/**
 * The nodes: whether they are there, what they lead, and how much room they have.
 *
 * @param acts whether the account may change nodes
 */
/** Whether a node joins or goes, and how much of its data is on the way. */
function membership(node) {
  if (!known(node.membership)) return '';
  const left = known(node.moving) ? `${plural(node.moving, 'copy', 'copies')} and ${bytes(node.bytesLeft)}` : null;
  if (node.membership === 'MEMBER') return left === null ? '' : `, still gets ${left}`;
  if (node.membership === 'DRAINING' && left === null && !known(node.message)) return ', drained';
  return `, ${node.membership.toLowerCase()}${left === null ? '' : `: ${left} left`}`;
}

export const Nodes = memo(({ nodes, logs, dispatcher, tall, acts }) => {
  const leads = (name) => Object.keys(logs).filter((log) => logs[log].leader === name).sort(byMeta);
  const rows = Object.keys(nodes)
    .sort(byName)
    .map((name) => {
      const node = nodes[name];
      const [glyph, word] = alive(node);
      const led = leads(name);
      return {
        key: name,
        sort: [name, null, null, null, null, null, node.bytes, node.diskFreeBytes],
        cells: [
          name,
          html`<span class="node" data-alive=${word ?? 'unknown'}>${glyph && html`<span class="glyph" aria-hidden="true">${glyph} </span>`}${figure(word)}${membership(node)}</span>${name === dispatcher && html`<span class="quiet"> · dispatcher</span>`}`,
          figure(node.host),
          known(node.zone) ? node.zone : html`<span class="quiet">none</span>`,
          figure(node.version),
          led.length === 0 ? html`<span class="quiet">nothing</span>` : led.join(', '),
          figure(bytes(node.bytes)),
          html`<${Free} node=${node} />`,
          ...(acts ? [html`<${NodeActions} name=${name} node=${node} />`] : []),
        ],
      };
    });
  return html`<${Table} label="Nodes" columns=${acts ? [...NODE_COLUMNS, { name: 'change' }] : NODE_COLUMNS} rows=${rows} empty="No node is known yet." tall=${tall} />`;
});

const Followers = ({ followers }) => {
  const names = Object.keys(followers ?? {}).sort(byName);
  if (names.length === 0) return html`<span class="quiet">none</span>`;
  return names.map(
    (name) => html`<span class="follower"><span class="mono">${name}</span> ${figure(known(followers[name].lagEntries) ? `−${count(followers[name].lagEntries)}` : null)}</span> `,
  );
};

/** The nodes that should not lead a log group; they give it away while another can lead. */
const Ineligible = ({ nodes }) =>
  Object.keys(nodes ?? {})
    .sort(byName)
    .flatMap((name) =>
      Object.keys(nodes[name]).map(
        (reason) => html`<span class="capped" title=${nodes[name][reason]}><span class="mono">${name}</span> ${reason.toLowerCase().replace('_', ' ')}</span> `,
      ),
    );

/** What the leader stores, and what no node can read any more. */
const Stored = ({ storage, leader }) => {
  const own = storage?.[leader];
  const lost = Math.max(0, ...Object.values(storage ?? {}).map((node) => node.lostMessages ?? 0));
  return html`${figure(known(own?.liveBytes) ? `${bytes(own.liveBytes)} live, ${bytes(own.deadBytes)} dead` : null)}
    ${lost > 0 && html` <span class="capped" title="every copy of them is damaged; the log of the node names them">${plural(lost, 'message')} lost</span>`}`;
};

const byMeta = (a, b) => (b === 'meta') - (a === 'meta') || byName(a, b);

const LOG_COLUMNS = [
  { name: 'log', mono: true },
  { name: 'leader', mono: true },
  { name: 'term', num: true },
  { name: 'committed', num: true },
  { name: 'applied', num: true },
  { name: 'followers behind' },
  { name: 'stored' },
  { name: 'should not lead' },
];

/** The log groups: who leads and follows them, and what they store. */
export const Logs = memo(({ logs, tall }) => {
  const rows = Object.keys(logs)
    .sort(byMeta)
    .map((name) => {
      const log = logs[name];
      const nobody = known(log.ineligible) && Object.keys(log.ineligible).length === 0;
      return {
        key: name,
        cells: [
          name,
          figure(log.leader),
          figure(count(log.term)),
          figure(count(log.commitIndex)),
          figure(count(log.appliedIndex)),
          known(log.followers) ? html`<${Followers} followers=${log.followers} />` : figure(null),
          name === 'meta' ? html`<span class="quiet">no messages</span>` : html`<${Stored} storage=${log.storage} leader=${log.leader} />`,
          nobody ? html`<span class="quiet">none</span>` : html`<${Ineligible} nodes=${log.ineligible} />`,
        ],
      };
    });
  return html`<${Table} label="Log groups" columns=${LOG_COLUMNS} rows=${rows} empty="Nothing is known of the logs yet." tall=${tall} />`;
});
