import { html, useEffect, useRef, useState } from '../lib.js';
import { brief, bytes, count, figure, known, plural, rate } from '../words.js';
import { byName } from '../model.js';
import { apiPath, ask } from '../api.js';
import { Table } from '../table.js';
import { Nobody } from '../tables.js';

const ADD_MAX = 1_000;
const SHARDS_MAX = 10_000;
/** More shards are not drawn one by one. */
const DRAWN_SHARDS_MAX = 600;
const ASSIGNORS = ['sticky', 'load', 'average', 'consistent-hash'];

const NOTHING = { add: '', remove: [], kill: '', assignor: '', shards: {} };

/** The body of the request: only what somebody supposed. */
export function question({ add, remove, kill, assignor, shards }) {
  const wanted = Object.entries(shards).filter(([, number]) => number !== '');
  return {
    ...(Number(add) > 0 ? { add: Number(add) } : {}),
    ...(remove.length > 0 ? { remove } : {}),
    ...(kill !== '' ? { kill } : {}),
    ...(assignor !== '' ? { assignor } : {}),
    ...(wanted.length > 0 ? { shards: Object.fromEntries(wanted.map(([topic, number]) => [topic, Number(number)])) } : {}),
  };
}

function Form({ group, nodes, supposed, onSuppose, onPlan, busy }) {
  const members = Object.keys(group.members ?? {}).sort(byName);
  const topics = [...new Set(Object.values(group.shards ?? {}).map((shard) => shard.topic))].sort(byName);
  const set = (change) => onSuppose({ ...supposed, ...change });
  const submit = (event) => {
    event.preventDefault();
    onPlan(supposed);
  };
  return html`<form class="plan" onSubmit=${submit} aria-label="What if">
    <div class="asked">
      <label for="plan-add">consumers that join</label>
      <input id="plan-add" type="number" min="0" max=${ADD_MAX} step="1" placeholder="0" value=${supposed.add} onInput=${(event) => set({ add: event.target.value })} />
    </div>
    <div class="asked">
      <label for="plan-kill">node that ends</label>
      <select id="plan-kill" value=${supposed.kill} onChange=${(event) => set({ kill: event.target.value })}>
        <option value="">none</option>
        ${nodes.map((node) => html`<option key=${node} value=${node}>${node}</option>`)}
      </select>
    </div>
    ${group.mode === 'sharded' &&
    html`<div class="asked">
      <label for="plan-assignor">assignor</label>
      <select id="plan-assignor" value=${supposed.assignor} onChange=${(event) => set({ assignor: event.target.value })}>
        <option value="">${known(group.assignor) ? `${group.assignor}, as now` : 'as now'}</option>
        ${ASSIGNORS.filter((name) => name !== group.assignor).map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
      </select>
    </div>`}
    ${topics.map(
      (topic) => html`<div class="asked" key=${topic}>
        <label for=${`plan-shards-${topic}`}>shards of ${topic}</label>
        <input id=${`plan-shards-${topic}`} type="number" min="1" max=${SHARDS_MAX} step="1" placeholder="as now" value=${supposed.shards[topic] ?? ''} onInput=${(event) => set({ shards: { ...supposed.shards, [topic]: event.target.value } })} />
      </div>`,
    )}
    ${members.length > 0 &&
    html`<fieldset>
      <legend>consumers that leave</legend>
      <div class="leaving">
        ${members.map(
          (name) => html`<label key=${name}>
            <input
              type="checkbox"
              checked=${supposed.remove.includes(name)}
              onChange=${(event) => set({ remove: event.target.checked ? [...supposed.remove, name] : supposed.remove.filter((other) => other !== name) })}
            />
            ${name}
          </label>`,
        )}
      </div>
    </fieldset>`}
    <p><button type="submit" class="act" disabled=${busy}>Show the plan</button> <button type="button" class="act" onClick=${() => (onSuppose(NOTHING), onPlan(NOTHING))}>Begin anew</button></p>
  </form>`;
}

/** How many shards each owner has now and would have. */
function spread(numbers) {
  if (numbers.length === 0) return 'no consumer';
  const [min, max] = [Math.min(...numbers), Math.max(...numbers)];
  return min === max ? `${count(min)} each` : `${count(min)}–${count(max)} each`;
}

const LOAD_COLUMNS = [
  { name: 'owner', mono: true, sortable: true },
  { name: 'shards now', num: true, sortable: true },
  { name: 'then', num: true, sortable: true },
  { name: 'lag', num: true, sortable: true },
  { name: 'handlers at a time', num: true, sortable: true },
  { name: 'handled/s', num: true, sortable: true },
];

function Loads({ loads, now }) {
  const names = [...new Set([...Object.keys(loads), ...now.keys()])].sort(byName);
  const rows = names.map((name) => {
    const load = loads[name];
    const before = now.get(name) ?? 0;
    const after = load?.shards ?? 0;
    return {
      key: name,
      sort: [name, before, after, load?.lag ?? null, load?.busy ?? null, load?.bytesPerSecond ?? null],
      cells: [
        name,
        count(before),
        html`${after === before ? count(after) : html`<strong>${count(after)}</strong>`}`,
        load ? figure(brief(load.lag)) : '0',
        load ? figure(rate(load.busy)) : '0',
        load ? figure(bytes(load.bytesPerSecond === null ? null : Math.round(load.bytesPerSecond))) : '0',
      ],
    };
  });
  return html`<${Table} label="Load of each consumer" columns=${LOAD_COLUMNS} rows=${rows} empty="Nobody would own a shard." tall=${true} />`;
}

function Owners({ owners, moves }) {
  const moved = new Map(moves.map((move) => [`${move.topic}/${move.shard}`, move]));
  const all = Object.values(owners).reduce((sum, keys) => sum + keys.length, 0);
  if (all > DRAWN_SHARDS_MAX) return null;
  return html`<section class="panel" aria-label="Who would own what">
    <h2>Who would own what</h2>
    <p class="quiet">Shards in the colour of water would have moved.</p>
    <ul class="owners-then">
      ${Object.keys(owners)
        .sort(byName)
        .map(
          (name) => html`<li key=${name}>
            <span class="name">${name}</span>
            <span class="shards">
              ${owners[name].map((key) => html`<span class="chip" data-moved=${moved.has(key) ? '' : undefined}>${key}${moved.has(key) && html`<span class="unseen"> from ${moved.get(key).from ?? 'nobody'}</span>`}</span> `)}
              ${owners[name].length === 0 && html`<span class="quiet">nothing</span>`}
            </span>
          </li>`,
        )}
    </ul>
  </section>`;
}

const MOVE_COLUMNS = [
  { name: 'shard', mono: true, sortable: true },
  { name: 'from', mono: true, sortable: true },
  { name: 'to', mono: true, sortable: true },
];

const PlannedMoves = ({ moves }) => html`<${Table}
  label="Moves"
  columns=${MOVE_COLUMNS}
  empty="No shard would move."
  rows=${moves.map(({ topic, shard, from, to }) => ({
    key: `${topic}/${shard}`,
    sort: [`${topic}/${shard}`, from, to],
    cells: [`${topic}/${shard}`, from ?? html`<${Nobody} />`, to ?? html`<${Nobody} />`],
  }))}
/>`;

/** What the shards of a group would be like after a change. Nothing is changed. */
export function PlanPage({ params, state }) {
  const name = params.group;
  const group = state.groups?.[name];
  const [supposed, suppose] = useState(NOTHING);
  const [answer, setAnswer] = useState({ plan: null, failure: null, busy: false, empty: true });
  const turn = useRef(0);
  const plan = async (what) => {
    const mine = ++turn.current;
    const body = question(what);
    setAnswer((old) => ({ ...old, busy: true }));
    try {
      const said = await ask('POST', `${apiPath('groups', name)}/plan`, body);
      if (mine === turn.current) setAnswer({ plan: said, failure: null, busy: false, empty: Object.keys(body).length === 0 });
    } catch (failure) {
      if (mine === turn.current) setAnswer({ plan: null, failure, busy: false, empty: false });
    }
  };
  const possible = group !== undefined && group.mode !== 'broadcast';
  useEffect(() => {
    if (possible) plan(NOTHING);
  }, [possible]);
  if (!group) return html`<p class="empty">There is no group “${name}” now. Choose another, or wait for it.</p>`;
  if (!possible) return html`<p class="empty">In mode broadcast every consumer reads all shards: there is nothing to plan.</p>`;
  const now = new Map();
  for (const shard of Object.values(group.shards ?? {})) {
    if (known(shard.owner)) now.set(shard.owner, (now.get(shard.owner) ?? 0) + 1);
  }
  const then = answer.plan;
  const total = then === null ? 0 : Object.values(then.owners).reduce((sum, keys) => sum + keys.length, 0);
  const summary =
    then === null
      ? ''
      : answer.empty
        ? then.moves.length === 0 ? 'Nothing is about to move now.' : `${plural(then.moves.length, 'shard')} ${then.moves.length === 1 ? 'is' : 'are'} about to move now.`
        : `${count(then.moves.length)} of ${plural(total, 'shard')} would move, and consumers would own ${spread(Object.values(then.owners).map((keys) => keys.length))}; now ${spread([...now.values()])}.`;
  return html`<p class="lead quiet">Suppose a change, and see which shards would move. This page only asks: nothing is done.</p>
    <${Form} group=${group} nodes=${Object.keys(state.cluster?.nodes ?? {}).sort(byName)} supposed=${supposed} onSuppose=${suppose} onPlan=${plan} busy=${answer.busy} />
    <p class="summary" role="status">${answer.failure === null ? summary : ''}</p>
    ${answer.failure !== null && html`<p class="notice" role="alert">${answer.failure.message}</p>`}
    ${then !== null &&
    html`<div class="panels">
      <${Loads} loads=${then.loads} now=${now} />
      <${PlannedMoves} moves=${then.moves} />
      <div class="wide"><${Owners} owners=${then.owners} moves=${then.moves} /></div>
    </div>`}`;
}
