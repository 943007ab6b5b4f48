import { html } from './lib.js';

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

export const known = (value) => value !== null && value !== undefined;

/** Null if unknown, as all of these. */
export const count = (n) => (known(n) ? whole.format(n) : null);
export const brief = (n) => (known(n) ? (n < 10000 ? whole.format(n) : short.format(n)) : null);
export const rate = (n) => (known(n) ? (n < 100 ? tenth.format(n) : brief(n)) : null);
export const millis = (n) => (known(n) ? (n < 10000 ? `${whole.format(n)} ms` : seconds(n / 1000)) : null);

export function seconds(n) {
  if (!known(n)) return null;
  if (n < 100) return `${n === 0 ? '0' : n.toFixed(1)} s`;
  if (n < 6000) return `${Math.round(n / 60)} min`;
  return n < 172800 ? `${Math.round(n / 3600)} h` : `${Math.round(n / 86400)} d`;
}

export function bytes(n) {
  if (!known(n)) return null;
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (n >= 1024 && i < units.length - 1) {
    n /= 1024;
    i++;
  }
  return `${i === 0 ? n : n.toFixed(n < 10 ? 1 : 0)} ${units[i]}`;
}

/** The time of day of an ISO instant, here. */
export function clock(instant) {
  const date = new Date(instant);
  return Number.isNaN(date.getTime()) ? null : date.toLocaleTimeString('en-GB');
}

/** Date and time in UTC of milliseconds since 1970. */
export const moment = (ms) => (known(ms) ? new Date(ms).toISOString().replace('T', ' ').replace('Z', '') : null);

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const unknownWord = (text) => text ?? 'unknown';

/** A figure, or a dash that says "unknown": zero is something else. */
export function figure(text) {
  return text === null || text === undefined
    ? html`<span class="unknown" title="unknown"><span aria-hidden="true">—</span><span class="unseen">unknown</span></span>`
    : text;
}

export const stateWord = (shard) =>
  shard.state === 'DRAINING' ? 'draining' : shard.state === 'FREE' ? 'no owner' : shard.state === 'OWNED' ? 'owned' : 'unknown state';

/** What was dropped before the group had consumed it. The command line uses the same words: Skipped.java. */
export const skippedWord = ({ skipped, skippedFrom, skippedTo }) =>
  skipped === 1
    ? `1 message, offset ${skippedTo}`
    : skipped > skippedTo - skippedFrom
      ? `${skipped} messages, offsets ${skippedFrom} to ${skippedTo}`
      : `${skipped} messages between offsets ${skippedFrom} and ${skippedTo}`;

/** A shard in one sentence. */
export function describe(key, shard) {
  const owner =
    shard.state === 'FREE'
      ? `no owner${known(shard.nextOwner) ? `, next owner ${shard.nextOwner}` : ''}`
      : shard.state === 'DRAINING'
        ? `draining from ${unknownWord(shard.owner)} to ${unknownWord(shard.nextOwner)}`
        : `owned by ${unknownWord(shard.owner)}`;
  const lag = known(shard.lag) ? `lag ${plural(shard.lag, 'message')}` : 'lag unknown';
  const paused = shard.paused ? ', paused' : '';
  const kin = shard.sealed ? ', sealed: its keys go on in other shards' : known(shard.waitsFor) ? `, waits for shards ${shard.waitsFor}` : '';
  const skipped = shard.skipped ? `, skipped ${skippedWord(shard)}` : '';
  return `${key}, ${owner}${paused}${kin}${skipped}, ${lag}, epoch ${unknownWord(count(shard.epoch))}`;
}

/** The command line uses the same words: StatusText.java. */
const STATUS = {
  OK: 'OK',
  UNASSIGNED_SHARD_WITH_CONSUMER_IDLE_EXISTS: 'shards free, members idle',
  UNASSIGNED_SHARD_WITHOUT_CONSUMER_IDLE_EXISTS: 'shards free',
  HEAVY_LOAD_BALANCE_NEEDED: 'rebalancing',
  HEAVY_LOAD_WITH_CONSUMER_IDLE_BALANCE_NEEDED: 'rebalancing, members idle',
};
export const statusWord = (status, members) => (known(status) ? (members === 0 ? 'no members' : (STATUS[status] ?? status)) : null);

/** The date and time of day of an instant, here; of an instant of today without the date. */
export function when(instant) {
  const date = new Date(instant);
  if (!known(instant) || Number.isNaN(date.getTime())) return null;
  const today = date.toDateString() === new Date().toDateString();
  return `${today ? '' : `${date.toLocaleDateString('en-CA')} `}${date.toLocaleTimeString('en-GB')}`;
}
