import { html, memo, useRef, useState } from '../lib.js';
import { clock, count, figure, known, millis, plural, seconds, when } from '../words.js';
import { byName } from '../model.js';
import { useAnswer } from '../api.js';
import { link } from '../router.js';
import { joined, rebalances, rows, ticks } from '../timeline.js';
import { MOVE_COLUMNS, moveRow } from '../tables.js';
import { Table } from '../table.js';

const REFRESH_MILLIS = 60_000;
const ROWS_MAX = 60;
const ROWS_AT_FIRST = 50;
const TICKS_MAX = 8;
const TONES = 6;
/** The timeline goes on in so many steps of its length. */
const STEPS = 200;
const SPANS = [
  ['10 min', 600_000],
  ['1 h', 3_600_000],
  ['1 day', 86_400_000],
  ['all', Infinity],
];

/** A move as a sentence. */
export function sentence(move, withGroup) {
  const pause = known(move.pauseMs) ? `paused ${millis(move.pauseMs)}` : 'pause unknown';
  const redelivered = move.redelivered > 0 ? `, ${plural(move.redelivered, 'message')} again` : '';
  return `${when(move.at)}: ${move.topic}/${move.shard}${withGroup ? ` of ${move.group}` : ''} went from ${move.from ?? 'nobody'} to ${move.to ?? 'nobody'}, ${move.reason ?? 'reason unknown'}, ${pause}${redelivered}${move.capped ? ', cap hit' : ''}`;
}

/** The span of time that is shown: the shortest that has something, unless somebody chose one. */
function spanOf(moves, chosen, now) {
  const first = moves[0].at;
  const millisOf = chosen ?? SPANS.find(([, length]) => moves.filter((move) => now - move.at <= length).length >= Math.min(3, moves.length))[1];
  const step = Math.max(1_000, Math.round((millisOf === Infinity ? now - first : millisOf) / STEPS));
  const to = Math.ceil(now / step) * step;
  const length = millisOf === Infinity ? Math.max(60_000, (to - first) * 1.02) : millisOf;
  return { millisOf, from: to - length, to };
}

function Lane({ row, at, tones, chosen, onChoose }) {
  return html`<div class="shard-row">
    <span class="shard-name mono" title=${row.name}>${row.name}</span>
    <svg class="owners" width="100%" height="18" aria-hidden="true">
      ${row.owned.map(
        (span) => html`<svg x="${at(span.from)}%" width="${Math.max(0, at(span.to) - at(span.from))}%" height="18" data-tone=${span.owner === null ? 'none' : tones.get(span.owner) % TONES}>
          <rect y="3" width="100%" height="12" />
          ${at(span.to) - at(span.from) > 4 && html`<text x="5" y="13">${span.owner ?? 'nobody'}</text>`}
        </svg>`,
      )}
      ${row.moves.map((move) => html`<rect class="pause" x="${at(move.at - (move.pauseMs ?? 0))}%" width="${at(move.at) - at(move.at - (move.pauseMs ?? 0))}%" y="3" height="12" />`)}
      ${row.moves.map(
        (move) => html`<g data-capped=${move.capped ? '' : undefined} data-chosen=${move.key === chosen ? '' : undefined} onClick=${() => onChoose(move.key)}>
          <title>${sentence(move)}</title>
          <line x1="${at(move.at)}%" x2="${at(move.at)}%" y1="0" y2="18" />
          <circle cx="${at(move.at)}%" cy="9" r=${move.key === chosen ? 5.5 : 3.5} />
        </g>`,
      )}
    </svg>
  </div>`;
}

/** Which shard belonged to whom, and when it moved. The arrow keys go from move to move. */
function Lanes({ moves, from, to, group }) {
  const [chosen, setChosen] = useState(null);
  const at = (time) => Math.min(100, Math.max(0, ((time - from) / (to - from)) * 100));
  const inSpan = moves.filter((move) => move.at >= from && move.at <= to);
  const all = rows(moves, from, to, group === null);
  const moved = all.filter((row) => row.moves.length > 0);
  const shown = moved.slice(0, ROWS_MAX);
  const seen = new Set(shown.flatMap((row) => row.moves.map((move) => move.key)));
  const stops = inSpan.filter((move) => seen.has(move.key));
  const owners = [...new Set(moves.flatMap((move) => [move.from, move.to]).filter(known))].sort(byName);
  const tones = new Map(owners.map((name, i) => [name, i]));
  const index = stops.findIndex((move) => move.key === chosen);
  const press = (event) => {
    const to = { ArrowRight: index + 1, ArrowLeft: index < 0 ? stops.length - 1 : index - 1, Home: 0, End: stops.length - 1 }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey || stops.length === 0) return;
    event.preventDefault();
    setChosen(stops[Math.min(stops.length - 1, Math.max(0, to))].key);
  };
  const { step, all: points } = ticks(from, to, TICKS_MAX);
  const label = (time) => (step >= 86_400_000 ? new Date(time).toLocaleDateString('en-CA') : step >= 60_000 ? clock(time).slice(0, 5) : clock(time));
  if (inSpan.length === 0) return html`<p class="nothing">No shard has moved in this time.</p>`;
  return html`<div class="timeline" role="group" tabindex="0" aria-label="Timeline of moves: the arrow keys go from move to move" aria-describedby="chosen-move" onKeyDown=${press}>
      ${shown.map((row) => html`<${Lane} key=${row.name} row=${row} at=${at} tones=${tones} chosen=${chosen} onChoose=${setChosen} />`)}
      <div class="shard-row axis" aria-hidden="true">
        <span class="shard-name"></span>
        <svg width="100%" height="20">${points.map((time) => html`<g><line x1="${at(time)}%" x2="${at(time)}%" y1="0" y2="5" /><text x="${at(time)}%" y="17" data-edge=${at(time) < 4 ? 'left' : at(time) > 96 ? 'right' : undefined}>${label(time)}</text></g>`)}</svg>
      </div>
    </div>
    <p class="chosen-move" id="chosen-move" role="status">${index < 0 ? html`<span class="quiet">Choose a move: click it, or use the arrow keys.</span>` : `${count(index + 1)} of ${count(stops.length)}. ${sentence(stops[index], group === null)}`}</p>
    ${moved.length > ROWS_MAX && html`<p class="quiet">${plural(moved.length - ROWS_MAX, 'more shard')} moved: see the table.</p>`}`;
}

function RebalanceTable({ moves, withGroup }) {
  const columns = [
    { name: 'time', sortable: true },
    ...(withGroup ? [{ name: 'group', mono: true, sortable: true }] : []),
    { name: 'reason', sortable: true },
    { name: 'shards', num: true, sortable: true },
    { name: 'took', num: true, sortable: true },
    { name: 'longest pause', num: true, sortable: true },
    { name: 'members' },
  ];
  const all = rebalances(moves).map((one) => {
    const members = [...new Set(one.moves.flatMap((move) => [move.from, move.to]).filter(known))].sort(byName);
    const names = members.length > 6 ? `${members.slice(0, 6).join(', ')} and ${members.length - 6} more` : members.join(', ');
    const cells = [figure(when(one.at)), figure(one.reason), count(one.moves.length), seconds((one.until - one.at) / 1000), figure(millis(one.pauseMs)), names];
    const sort = [one.at, one.reason, one.moves.length, one.until - one.at, one.pauseMs, null];
    if (withGroup) {
      cells.splice(1, 0, html`<a href=${link('groups', one.group, 'moves')}>${one.group}</a>`);
      sort.splice(1, 0, one.group);
    }
    return { key: `${one.at} ${one.group} ${one.reason}`, cells, sort };
  });
  return html`<${Table} label="Rebalances" columns=${columns} rows=${all} empty="No rebalance yet." first=${ROWS_AT_FIRST} />`;
}

function MoveTable({ moves, withGroup }) {
  const [wanted, setWanted] = useState('');
  const text = wanted.trim().toLowerCase();
  const fits = (move) => `${move.group} ${move.topic}/${move.shard} ${move.from ?? ''} ${move.to ?? ''} ${move.reason}`.toLowerCase().includes(text);
  const columns = withGroup ? [MOVE_COLUMNS[0], { name: 'group', mono: true, sortable: true }, ...MOVE_COLUMNS.slice(1)] : MOVE_COLUMNS;
  const all = [...moves]
    .reverse()
    .filter(fits)
    .map((move) => {
      const row = moveRow(move.key, move, when(move.at));
      if (!withGroup) return row;
      return { ...row, cells: [row.cells[0], move.group, ...row.cells.slice(1)], sort: [row.sort[0], move.group, ...row.sort.slice(1)] };
    });
  return html`<${Table} label="Moves" columns=${columns} rows=${all} empty="No move fits." tall=${true} first=${ROWS_AT_FIRST}>
    <input class="filter" type="search" aria-label="Filter the moves" placeholder="shard, member or reason" value=${wanted} onInput=${(event) => setWanted(event.target.value)} />
  <//>`;
}

// Drawn again only when a move has come, or time has gone on by what one can see.
const Timeline = memo((facts) => html`<${Lanes} ...${facts} />`);
const Rebalances = memo((facts) => html`<${RebalanceTable} ...${facts} />`);
const AllMoves = memo((facts) => html`<${MoveTable} ...${facts} />`);

/** A hook: the same array as long as its sources are the same. */
function useJoined(kept, live, group) {
  const last = useRef({});
  if (last.current.moves === undefined || last.current.kept !== kept || last.current.live !== live) {
    last.current = { kept, live, moves: joined(kept, live, group) };
  }
  return last.current.moves;
}

/** The moves of a group's shards, or of all groups', over time. */
export function MovesPage({ params, state }) {
  const group = params.group ?? null;
  const [chosen, setChosen] = useState(null);
  const { data, failure } = useAnswer(group === null ? 'api/rebalances' : `api/rebalances?${new URLSearchParams({ group })}`, REFRESH_MILLIS);
  const moves = useJoined(data, state.moves, group);
  if (moves.length === 0) {
    return html`<div class="empty">
      <p>${data === null && failure === null ? 'Waiting for the node …' : 'No shard has moved yet.'}</p>
      <p>Shards move when members join or leave a group.</p>
    </div>`;
  }
  const span = spanOf(moves, chosen, Math.max(Date.now(), moves.at(-1).at));
  return html`${failure !== null && html`<p class="notice" role="alert">Older moves are not shown: ${failure.message}</p>`}
    <div class="panels single">
      <section class="panel" aria-label="Timeline">
        <h2>Who owned which shard</h2>
        <div class="spans" role="group" aria-label="Time shown">
          ${SPANS.map(([name, length]) => html`<button type="button" aria-pressed=${String(length === span.millisOf)} onClick=${() => setChosen(length)}>${name}</button>`)}
        </div>
        <${Timeline} moves=${moves} from=${span.from} to=${span.to} group=${group} />
      </section>
      <${Rebalances} moves=${moves} withGroup=${group === null} />
      <${AllMoves} moves=${moves} withGroup=${group === null} />
    </div>`;
}
