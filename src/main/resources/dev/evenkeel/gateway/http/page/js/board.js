import { html, memo } from './lib.js';
import { brief, count, describe, figure, known, plural, rate, seconds } from './words.js';
import { level } from './model.js';
import { Spark } from './spark.js';
import { isDispatcher } from './level.js';

/** A consumer that has not been heard for so long is marked; it counts as gone after five seconds. */
const SILENT_MILLIS = 2500;

const sameCell = (a, b) =>
  a.density === b.density && a.prefix === b.prefix && a.line === b.line && (a.shard === b.shard || facts(a.shard) === facts(b.shard));

/** Everything of a shard that its cell shows. */
const facts = (shard) =>
  `${shard.state}|${shard.owner}|${shard.nextOwner}|${shard.epoch}|${shard.lag}|${seconds(shard.lagSeconds)}|${shard.sealed}|${shard.waitsFor}|${shard.paused}|${shard.crashes}|${shard.suspect}|${shard.skipped}|${shard.skippedTo}`;

/** What is unusual about a shard: that it is paused, say, or what it has to do with others while the number of shards changes. */
const kin = (shard) =>
  shard.paused
    ? '‖ paused'
    : shard.crashes
      ? 'careful'
      : shard.sealed
        ? 'sealed'
        : known(shard.waitsFor)
          ? `after ${shard.waitsFor}`
          : shard.skipped
            ? `▲ ${brief(shard.skipped)} skipped`
            : null;

const Cell = memo(({ name, shard, density, prefix, line }) => {
  const draining = shard.state === 'DRAINING';
  const roomy = density === 'roomy';
  const words = describe(name, shard);
  if (density === 'tiny')
    return html`<div
      role="gridcell"
      class="cell"
      data-cell=${name}
      data-state=${shard.state ?? 'UNKNOWN'}
      data-kin=${shard.sealed ? 'parent' : known(shard.waitsFor) ? 'child' : undefined}
      data-paused=${shard.paused ? '' : undefined}
      data-unknown=${known(shard.lag) ? undefined : ''}
      tabindex="-1"
      aria-label=${words}
      title=${words}
      style=${{ '--level': level(shard.lag).toFixed(2) }}
    ></div>`;
  return html`<div
    role="gridcell"
    class="cell"
    data-cell=${name}
    data-state=${shard.state ?? 'UNKNOWN'}
    data-kin=${shard.sealed ? 'parent' : known(shard.waitsFor) ? 'child' : undefined}
    data-paused=${shard.paused ? '' : undefined}
    tabindex="-1"
    aria-label=${words}
    title=${roomy ? undefined : words}
  >
    <span class="water" style=${{ transform: `scaleY(${level(shard.lag).toFixed(3)})` }}></span>
    <span class="id">${roomy ? name : `${prefix}${shard.shard}`}</span>
    ${roomy && html`<span class="epoch">${known(shard.epoch) ? `e${shard.epoch}` : figure(null)}</span>`}
    ${draining && html`<span class="going">${roomy ? `→ ${shard.nextOwner ?? 'anyone'}` : '→'}</span>`}
    ${shard.state === 'FREE' && known(shard.nextOwner) && html`<span class="going">${roomy ? `→ ${shard.nextOwner}` : '→'}</span>`}
    ${roomy && !draining && kin(shard) !== null && html`<span class="kin">${kin(shard)}</span>`}
    ${roomy && !draining && kin(shard) === null && shard.state !== 'FREE' && html`<${Spark} values=${line} width=${56} height=${18} />`}
    ${density !== 'dense' && html`<span class="lag">${figure(brief(shard.lag))}</span>`}
    ${roomy && html`<span class="old">${known(shard.lag) ? figure(seconds(shard.lagSeconds)) : ''}</span>`}
    ${!roomy && shard.paused && html`<span class="going">‖</span>`}
    ${density === 'dense' && !known(shard.lag) && html`<span class="lag">—</span>`}
  </div>`;
}, sameCell);

const sameLane = (a, b) =>
  a.member === b.member &&
  a.name === b.name &&
  a.density === b.density &&
  a.prefixes === b.prefixes &&
  a.tick === b.tick &&
  (a.cells === b.cells ||
    (a.cells.length === b.cells.length && a.cells.every((cell, i) => cell.key === b.cells[i].key && cell.shard === b.cells[i].shard)));

function laneWords(name, member, cells) {
  const shards = plural(cells.length, 'shard');
  if (name === null) return `No owner, ${shards}`;
  if (member !== null) return `${name}${known(member.leadsTerm) ? `, leads at term ${member.leadsTerm}` : ''}, ${shards}`;
  return `${name}, ${isDispatcher(name) ? 'deals to the members' : 'not a member'}, ${shards}`;
}

function sum(cells) {
  return cells.some(({ shard }) => !known(shard.lag)) ? null : cells.reduce((total, { shard }) => total + shard.lag, 0);
}

function trouble(member) {
  if (!known(member.lastHeartbeatMs)) return html`<span class="silent"><span aria-hidden="true">◌ </span>not heard yet</span>`;
  return member.lastHeartbeatMs > SILENT_MILLIS
    ? html`<span class="silent"><span aria-hidden="true">▲ </span>silent for ${seconds(member.lastHeartbeatMs / 1000)}</span>`
    : known(member.stuck) && member.stuck > 0
      ? html`<span class="silent"><span aria-hidden="true">■ </span>stuck on ${plural(member.stuck, 'shard')} for ${seconds(member.stuckMs / 1000)}</span>`
      : member.breaker === 'open'
        ? html`<span class="silent"><span aria-hidden="true">▲ </span>pauses: most messages fail</span>`
        : null;
}

const Lane = memo(({ name, member, cells, density, prefixes, tick, lines }) => {
  const lag = sum(cells);
  return html`<div role="row" class="lane" data-kind=${name === null ? 'free' : member === null ? 'other' : 'member'} aria-label=${laneWords(name, member, cells)}>
    <div role="rowheader" class="who" data-lane=${name ?? ''} tabindex="-1">
      <span class="name">${name === null ? html`<span aria-hidden="true">○ </span>no owner` : name}</span>
      <span class="where">
        ${name === null
          ? cells.length === 0
            ? 'every shard has one'
            : `${plural(cells.length, 'shard')} waiting`
          : member === null
            ? isDispatcher(name)
              ? 'deals to the members'
              : 'not a member'
            : (trouble(member) ??
              (known(member.leadsTerm)
                ? html`<span class="leads"><span aria-hidden="true">★ </span>leads at term ${member.leadsTerm}</span>`
                : known(member.host) ? `on ${member.host}` : known(member.node) ? `at ${member.node}` : ''))}
      </span>
      ${name !== null &&
      html`<span class="sums">
        <span title="shards">${count(cells.length)}<i> ${cells.length === 1 ? 'shard' : 'shards'}</i></span>
        <span title="messages not yet consumed">${figure(brief(lag))}<i> lag</i></span>
        ${member !== null && html`<span title="messages a second">${figure(rate(member.rate))}<i>/s</i></span>`}
      </span>`}
    </div>
    <div class="cells" role="presentation">
      ${cells.map(
        ({ key, shard }) =>
          html`<${Cell} key=${key} name=${key} shard=${shard} density=${density} prefix=${prefixes.get(shard.topic) ?? ''} line=${lines === null ? null : lines(key, tick)} />`,
      )}
    </div>
  </div>`;
}, sameLane);

/** The group's shards as cells in the lanes of their owners. One stop of the Tab key; arrows go on. */
export function Board({ group, lanes, density, prefixes, tick, lines }) {
  return html`<div role="grid" class="board" aria-label=${`Shards of ${group} by consumer`} data-density=${density} id="board">
    ${lanes.map(
      (lane) =>
        html`<${Lane} key=${lane.name ?? ' '} ...${lane} density=${density} prefixes=${prefixes} tick=${density === 'roomy' ? tick : 0} lines=${density === 'roomy' ? lines : null} />`,
    )}
  </div>`;
}
