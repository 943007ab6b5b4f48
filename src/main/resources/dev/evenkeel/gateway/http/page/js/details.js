import { html } from './lib.js';
import { count, figure, known, millis, plural, rate, seconds, skippedWord, stateWord } from './words.js';
import { Spark } from './spark.js';
import { ShardActions } from './actions/bars.js';
import { isDispatcher } from './level.js';

const Row = ({ name, value }) => html`<div><dt>${name}</dt><dd>${figure(value)}</dd></div>`;

function ShardDetails({ name, shard, line }) {
  const left = shard.state === 'DRAINING' && known(shard.drainDeadline) ? Math.max(0, shard.drainDeadline - Date.now()) : null;
  return html`<h3><span class="kind">shard</span> ${name}</h3>
    <dl class="rows">
      <${Row} name="state" value=${`${stateWord(shard)}${shard.paused ? ', paused' : ''}`} />
      ${shard.crashes && html`<${Row} name="care" value=${`${shard.crashes} owners died, perhaps of offset ${shard.suspect}`} />`}
      ${shard.skipped && html`<${Row} name="skipped" value=${skippedWord(shard)} />`}
      <${Row} name="owner" value=${shard.state === 'FREE' ? 'none' : shard.owner} />
      <${Row} name="next owner" value=${known(shard.nextOwner) ? shard.nextOwner : shard.state === 'OWNED' ? 'stays' : null} />
      ${left !== null && html`<${Row} name="released within" value=${seconds(left / 1000)} />`}
      <${Row} name="epoch" value=${count(shard.epoch)} />
      <${Row} name="lag" value=${known(shard.lag) ? plural(shard.lag, 'message') : null} />
      <${Row} name="oldest waits" value=${seconds(shard.lagSeconds)} />
      <${Row} name="rate" value=${known(shard.rate) ? `${rate(shard.rate)} /s` : null} />
      <${Row} name="position" value=${count(shard.position)} />
      <${Row} name="committed" value=${count(shard.committed)} />
      <${Row} name="end" value=${count(shard.end)} />
    </dl>
    <p class="kind">lag, last two minutes</p>
    <${Spark} values=${line} width=${264} height=${56} />`;
}

function ConsumerDetails({ name, member, shards, level, mode }) {
  if (name === '' && mode === 'broadcast') {
    return html`<h3>No owner</h3><p>In mode broadcast nobody owns a shard: every consumer reads them all.</p>`;
  }
  if (name === '') {
    const free = Object.keys(shards).filter((key) => !known(shards[key].owner));
    return html`<h3>No owner</h3><p>${free.length === 0 ? 'Every shard has an owner.' : `${plural(free.length, 'shard')} ${free.length === 1 ? 'waits' : 'wait'}: ${free.slice(0, 50).join(', ')}`}</p>`;
  }
  const own = Object.keys(shards).filter((key) => shards[key].owner === name);
  const coming = Object.keys(shards).filter((key) => shards[key].nextOwner === name && shards[key].owner !== name);
  const bar = level?.bars?.[name];
  return html`<h3><span class="kind">${isDispatcher(name) ? 'level dispatcher' : 'consumer'}</span> ${name}</h3>
    ${member === null
      ? html`<p>${isDispatcher(name) ? 'Owns the shards and deals their messages to the members, so that they stay level.' : 'Owns shards but is not a member of the group.'}</p>`
      : html`<dl class="rows">
          <${Row} name="host" value=${member.host} />
          <${Row} name="connection" value=${member.node} />
          <${Row} name="last heard" value=${known(member.lastHeartbeatMs) ? `${millis(member.lastHeartbeatMs)} ago` : null} />
          <${Row} name="breaker" value=${member.breaker} />
          <${Row} name="stuck on" value=${known(member.stuck) ? (member.stuck === 0 ? 'nothing' : `${plural(member.stuck, 'shard')} for ${millis(member.stuckMs)}`) : null} />
          ${known(level) && html`<${Row} name="finished, for the range" value=${count(bar?.finished)} /><${Row} name="in hand" value=${count(bar?.inHand)} />`}
          <${Row} name="consumed" value=${count(member.consumed)} />
          <${Row} name="rate" value=${known(member.rate) ? `${rate(member.rate)} /s` : null} />
          <${Row} name="shards" value=${count(own.length)} />
        </dl>`}
    <p class="kind">owns</p>
    <p class="list">${own.length === 0 ? 'nothing' : own.slice(0, 60).join(', ')}${own.length > 60 ? ', …' : ''}</p>
    ${coming.length > 0 && html`<p class="kind">to come</p><p class="list">${coming.slice(0, 60).join(', ')}</p>`}`;
}

/** Everything about the shard or consumer that has the focus. */
export function Details({ focus, name: ofGroup, group, account, history, onClose }) {
  const [kind, name] = focus ?? [null, null];
  const shards = group.shards ?? {};
  const shard = kind === 'cell' ? shards[name] : null;
  const known = shard || kind === 'lane';
  return html`<aside class="details" aria-label="Details" data-open=${known ? '' : undefined}>
    ${known && html`<button class="close" onClick=${onClose} aria-label="Close details">✕</button>`}
    ${shard
      ? html`<${ShardDetails} name=${name} shard=${shard} line=${history.shards.get(name)?.values(0)} /><${ShardActions} name=${ofGroup} group=${group} shard=${shard} account=${account} />`
      : kind === 'lane'
        ? html`<${ConsumerDetails} name=${name} member=${group.members?.[name] ?? null} shards=${shards} level=${group.level} mode=${group.mode} />`
        : html`<h3>Details</h3><p class="quiet">Choose a shard or a consumer: click, or Tab to the board and use the arrow keys.</p>`}
  </aside>`;
}
