import { html } from '../lib.js';
import { may, maySome } from '../rights.js';
import { ActionButton } from './dialog.js';
import { deleteGroup, pause, resetOffsets, resume } from './group.js';
import { drain, undrain } from './node.js';
import { changeTopic, createTopic, deleteTopic, reshardTopic, sendMessage } from './topic.js';

const Bar = ({ label, children }) => html`<div class="acts" role="group" aria-label=${label}>${children}</div>`;

/** What the account may do with a topic. `groups` gives those of the live state. */
export function TopicActions({ topic, account, groups }) {
  const admin = may(account, 'admin', topic);
  const send = may(account, 'produce', topic);
  if (!admin && !send) return null;
  return html`<${Bar} label=${`Actions for ${topic}`}>
    ${send && html`<${ActionButton} action=${() => sendMessage(topic, groups)}>Send a message<//>`}
    ${admin &&
    html`<${ActionButton} action=${() => changeTopic(topic)}>Change settings<//>
      <${ActionButton} action=${() => reshardTopic(topic)}>Reshard<//>
      <${ActionButton} action=${() => deleteTopic(topic, groups)}>Delete<//>`}
  <//>`;
}

export const CreateTopic = ({ account }) =>
  maySome(account, 'admin') && html`<${Bar} label="Actions for topics"><${ActionButton} action=${createTopic}>Create a topic<//><//>`;

/** What the account may do with a group. `live` gives it as the feed knows it now. */
export function GroupActions({ name, group, account, live }) {
  if (!may(account, 'admin', name)) return null;
  const shards = Object.values(group.shards ?? {});
  const topics = [...new Set(shards.map((shard) => shard.topic))].sort();
  const some = group.paused || shards.some((shard) => shard.paused);
  return html`<${Bar} label=${`Actions for ${name}`}>
    ${group.mode !== 'broadcast' && !group.paused && html`<${ActionButton} action=${() => pause(name, {}, live)}>Pause<//>`}
    ${some && html`<${ActionButton} action=${() => resume(name, {}, live)}>Resume${group.paused ? '' : ' all'}<//>`}
    <${ActionButton} action=${() => resetOffsets(name, topics)}>Reset offsets<//>
    <${ActionButton} action=${() => deleteGroup(name)}>Delete<//>
  <//>`;
}

/** What the account may do with a shard of a group. */
export function ShardActions({ name, group, shard, account }) {
  if (!may(account, 'admin', name) || group.mode === 'broadcast') return null;
  const of = { topic: shard.topic, shard: shard.shard };
  const live = () => group;
  return html`<${Bar} label=${`Actions for ${shard.topic}/${shard.shard}`}>
    ${shard.paused
      ? !group.paused && html`<${ActionButton} action=${() => resume(name, of, live)}>Resume this shard<//>`
      : html`<${ActionButton} action=${() => pause(name, of, live)}>Pause this shard<//>`}
  <//>`;
}

/** What an account with admin for all names may do with a node. */
export const NodeActions = ({ name, node }) =>
  node.membership === 'DRAINING'
    ? html`<${ActionButton} label=${`End the drain of ${name}`} action=${() => undrain(name)}>End the drain<//>`
    : html`<${ActionButton} label=${`Drain ${name}`} action=${() => drain(name)}>Drain<//>`;
