import { bytes, count, known, plural } from './words.js';
import { byName, counts } from './model.js';
import { link } from './router.js';
import { isDispatcher } from './level.js';

/** The figures of the alarms in operate/alarms.md. */
const FOLLOWER_BEHIND_ENTRIES = 10_000;
const DISK_NEARLY_FULL = 2;

/** A lag counts as growing if it is at least this large and has grown by this part within a minute. */
const GROWING_LAG_MIN = 1_000;
const GROWING_PART = 0.1;
const GROWING_SAMPLES = 60;

/** How urgent something is: what stops messages, what may soon, and what somebody wanted. */
export const ALARM = 0;
export const WARNING = 1;
export const NOTE = 2;

const names = (object) => Object.keys(object ?? {}).sort(byName);

function ofCluster(cluster, add) {
  const href = link('cluster');
  if (!known(cluster.dispatcher)) add(ALARM, 'dispatcher', 'No dispatcher answers: shards do not move.', href, 'see the log groups');
  const versions = new Map();
  for (const name of names(cluster.nodes)) {
    const node = cluster.nodes[name];
    if (node.alive === false) add(ALARM, `down ${name}`, `Node ${name} is down.`, href, 'see the nodes');
    else if (!known(node.alive)) add(WARNING, `silent ${name}`, `Node ${name} does not answer.`, href, 'see the nodes');
    if (known(node.message)) add(WARNING, `message ${name}`, `Node ${name}: ${node.message}`, href, 'see the nodes');
    if (known(node.diskFreeBytes) && node.diskFreeBytes < DISK_NEARLY_FULL * node.diskFreeBytesMin) {
      const full = node.diskFreeBytes < node.diskFreeBytesMin;
      const text = `The disk of node ${name} is ${full ? 'full' : 'nearly full'}: ${bytes(node.diskFreeBytes)} are free, the limit is ${bytes(node.diskFreeBytesMin)}.`;
      add(full ? ALARM : WARNING, `disk ${name}`, text, href, 'see the nodes');
    }
    if (known(node.version)) versions.set(node.version, [...(versions.get(node.version) ?? []), name]);
  }
  if (versions.size > 1) {
    const each = [...versions].sort(([a], [b]) => byName(a, b)).map(([version, nodes]) => `${version} (${nodes.join(', ')})`);
    add(WARNING, 'versions', `The nodes run different versions: ${each.join(', ')}.`, href, 'see the nodes');
  }
  for (const name of names(cluster.logs)) ofLog(name, cluster.logs[name], add);
}

function ofLog(name, log, add) {
  const href = link('cluster');
  const see = 'see the log groups';
  if (!known(log.leader)) add(ALARM, `leader ${name}`, `Log group ${name} has no leader: it takes no messages.`, href, see);
  const lost = Math.max(0, ...Object.values(log.storage ?? {}).map((node) => node.lostMessages ?? 0));
  if (lost > 0) add(ALARM, `lost ${name}`, `${plural(lost, 'message')} of log group ${name} ${lost === 1 ? 'is' : 'are'} lost.`, href, see);
  for (const node of names(log.followers)) {
    const behind = log.followers[node].lagEntries;
    if (behind > FOLLOWER_BEHIND_ENTRIES) add(WARNING, `behind ${name} ${node}`, `Node ${node} is ${count(behind)} entries behind in log group ${name}.`, href, see);
  }
  for (const node of names(log.ineligible)) {
    for (const reason of names(log.ineligible[node])) {
      add(WARNING, `ineligible ${name} ${node} ${reason}`, `Node ${node} should not lead log group ${name}: ${log.ineligible[node][reason]}`, href, see);
    }
  }
}

/** Whether the lag has grown during the whole last minute. Samples are a second apart, NaN where unknown. */
export function grows(lags) {
  const last = lags.slice(-GROWING_SAMPLES);
  if (last.length < GROWING_SAMPLES || last.some(Number.isNaN)) return false;
  const third = GROWING_SAMPLES / 3;
  const mean = (from) => last.slice(from, from + third).reduce((a, b) => a + b, 0) / third;
  const [first, middle, end] = [mean(0), mean(third), mean(2 * third)];
  return end >= GROWING_LAG_MIN && middle > first && end > middle && end > first * (1 + GROWING_PART);
}

function ofGroup(name, group, lags, add) {
  const href = link('groups', name);
  const see = `see group ${name}`;
  const members = names(group.members);
  const { free } = counts(group);
  if (group.paused) add(NOTE, `paused ${name}`, `Group ${name} is paused.`, href, see);
  else if (group.shardsPaused > 0) add(NOTE, `paused ${name}`, `${plural(group.shardsPaused, 'shard')} of group ${name} ${group.shardsPaused === 1 ? 'is' : 'are'} paused.`, href, see);
  // In mode broadcast nobody owns a shard, and in mode level the dispatcher owns them all.
  if (members.length === 0 && group.mode !== 'broadcast') {
    const waiting = group.lag > 0 ? `, and ${plural(group.lag, 'message')} ${group.lag === 1 ? 'waits' : 'wait'}` : '';
    add(group.lag > 0 ? ALARM : WARNING, `members ${name}`, `Group ${name} has no members${waiting}.`, href, see);
  } else if (free > 0 && group.mode !== 'broadcast') {
    add(ALARM, `free ${name}`, `${plural(free, 'shard')} of group ${name} ${free === 1 ? 'has' : 'have'} no owner.`, href, see);
  }
  if (group.topicsLeftOut > 0) {
    const left = group.topicsLeftOut;
    add(WARNING, `topics ${name}`, `Group ${name} does not read ${plural(left, 'topic')} that its members subscribe to: ${left === 1 ? 'it was' : 'they were'} deleted, or the group has too many.`, href, see);
  }
  for (const member of members) {
    const { stuck, breaker } = group.members[member];
    if (stuck > 0) add(ALARM, `stuck ${name} ${member}`, `Member ${member} of group ${name} is stuck on ${plural(stuck, 'shard')}.`, href, see);
    if (breaker === 'open') add(WARNING, `breaker ${name} ${member}`, `Most messages fail at member ${member} of group ${name}: it tries one at a time.`, href, see);
  }
  if (known(group.level?.holder) && !isDispatcher(group.level.holder) && group.level.heldMs > 5000) {
    add(WARNING, `holds ${name}`, `The members of group ${name} wait for ${group.level.holder}.`, href, see);
  }
  if (group.failures?.deadLetters > 0) {
    const dead = group.failures.deadLetters;
    add(WARNING, `dead ${name}`, `${plural(dead, 'dead letter')} of group ${name} ${dead === 1 ? 'waits' : 'wait'} for somebody to look.`, link('groups', name, 'failures'), 'see the failures');
  }
  if (!group.paused && grows(lags)) add(WARNING, `grows ${name}`, `The lag of group ${name} grows.`, href, see);
}

/**
 * What somebody should look at now, the most urgent first.
 *
 * @param state the facts of the feed
 * @param lagsOf gives the last samples of a group's lag, one a second
 * @return `{ urgency, key, text, href, act }`: a sentence, and where to act
 */
export function attention(state, lagsOf = () => []) {
  const all = [];
  const add = (urgency, key, text, href, act) => all.push({ urgency, key, text, href, act });
  ofCluster(state.cluster ?? {}, add);
  for (const name of names(state.groups)) ofGroup(name, state.groups[name], lagsOf(name), add);
  return all.sort((a, b) => a.urgency - b.urgency);
}
