import { merge } from './patch.js';

const RETRY_MILLIS_MIN = 500;
const RETRY_MILLIS_MAX = 5000;
const OPEN_MILLIS_MAX = 5000;
/** A connection that is open and silent for so long is given up. */
const SILENT_MILLIS_MAX = 10000;
/** The node sends something at least every second. */
export const STALE_MILLIS = 3000;

/** Up to a quarter less than doubling, so that many pages do not come back at the same moment. */
export function backoff(attempt, random) {
  const full = Math.min(RETRY_MILLIS_MAX, RETRY_MILLIS_MIN * 2 ** Math.min(attempt, 10));
  return Math.max(RETRY_MILLIS_MIN, full * (0.75 + 0.25 * random));
}

/**
 * The facts as the node sends them over its WebSocket: `state` is null before the first snapshot,
 * and stays the last known one while there is no connection.
 */
export class Feed {
  /**
   * @param onLost called when a connection is lost, or was not made
   * @param mayOpen tells whether trying makes sense
   */
  constructor(url, onChange, onLost = () => {}, mayOpen = () => true) {
    this.url = url;
    this.onChange = onChange;
    this.onLost = onLost;
    this.mayOpen = mayOpen;
    this.state = null;
    this.seq = 0;
    this.snapshots = 0;
    this.arrivedAt = null;
    this.link = 'connecting';
    this.retryAt = null;
    this.attempt = 0;
    this.socket = null;
    this.timer = null;
  }

  start() {
    addEventListener('online', () => this.hurry());
    document.addEventListener('visibilitychange', () => document.hidden || this.hurry());
    setInterval(() => this.watch(), 500);
    this.open();
  }

  /** Milliseconds since anything arrived, or null if nothing ever did. */
  age() {
    return this.arrivedAt === null ? null : performance.now() - this.arrivedAt;
  }

  /** 'live', 'connecting' (for the first time) or 'stale'. */
  condition() {
    if (this.state === null) return 'connecting';
    return this.link === 'open' && this.age() < STALE_MILLIS ? 'live' : 'stale';
  }

  open() {
    clearTimeout(this.timer);
    this.link = 'connecting';
    this.retryAt = null;
    this.synced = false;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    this.openedAt = performance.now();
    socket.onopen = () => {
      this.openedAt = performance.now();
    };
    socket.onmessage = (event) => this.socket === socket && this.take(event.data);
    socket.onclose = () => this.socket === socket && this.lost();
    this.onChange();
  }

  take(text) {
    let frame;
    try {
      frame = JSON.parse(text);
    } catch (e) {
      this.drop();
      return;
    }
    if (frame.type === 'snapshot') {
      const { type, seq, time, intervalMs, ...state } = frame;
      this.state = merge(null, state);
      this.synced = true;
      this.snapshots++;
    } else if (frame.type === 'change') {
      // A gap means that something was missed: only a new snapshot is true.
      if (!this.synced || frame.seq !== this.seq + 1) {
        this.drop();
        return;
      }
      this.state = merge(this.state, frame.patch ?? {});
    } else {
      return;
    }
    this.seq = frame.seq;
    this.link = 'open';
    this.attempt = 0;
    this.arrivedAt = performance.now();
    this.onChange();
  }

  watch() {
    const since = performance.now() - Math.max(this.openedAt, this.arrivedAt ?? 0);
    const limit = this.socket?.readyState === WebSocket.CONNECTING ? OPEN_MILLIS_MAX : SILENT_MILLIS_MAX;
    if (this.socket !== null && since > limit) this.drop();
  }

  /** Gives the connection up without waiting for the other side. */
  drop() {
    const socket = this.socket;
    this.lost();
    socket?.close();
  }

  lost() {
    this.socket = null;
    this.link = 'lost';
    const wait = backoff(this.attempt++, Math.random());
    this.retryAt = performance.now() + wait;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => (this.mayOpen() ? this.open() : this.lost()), wait);
    this.onChange();
    this.onLost();
  }

  /** Forgets what it has shown: it is for somebody else now. */
  forget() {
    this.state = null;
    this.arrivedAt = null;
    if (this.socket !== null) this.drop();
  }

  hurry() {
    if (this.link === 'lost' && this.mayOpen()) {
      this.attempt = 0;
      this.open();
    }
  }
}
