/** Most bytes of a payload that are shown, and that are shown as hex. */
export const SHOWN_BYTES_MAX = 64 << 10;
const HEX_BYTES_MAX = 16 << 10;
const HEX_LINE = 16;

export const FORMS = [
  ['json', 'JSON'],
  ['text', 'Text'],
  ['hex', 'Hex'],
];

/** The bytes of `payload` or `payloadBase64`, as the API gives them; null if there are none. */
export function bytesOf(json, field = 'payload') {
  const coded = json[`${field}Base64`];
  if (coded !== undefined) return Uint8Array.from(atob(coded), (char) => char.charCodeAt(0));
  return json[field] === null || json[field] === undefined ? null : new TextEncoder().encode(json[field]);
}

/** The forms in which a payload can be shown, the best one first. */
export function formsOf(json) {
  if (json.payloadBase64 !== undefined) return ['hex'];
  return isJson(json.payload) ? ['json', 'text', 'hex'] : ['text', 'hex'];
}

function isJson(text) {
  if (!/^\s*[[{"]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch (e) {
    return false;
  }
}

/**
 * A payload to read: `{text, shown, bytes}`. If `shown` is less than `bytes`, only so many bytes of
 * it are in the text.
 */
export function render(json, form) {
  const all = bytesOf(json);
  const max = form === 'hex' ? HEX_BYTES_MAX : SHOWN_BYTES_MAX;
  const shown = Math.min(all.length, max);
  if (form === 'hex') return { text: hex(all.subarray(0, shown)), shown, bytes: all.length };
  const text = shown < all.length ? new TextDecoder().decode(all.subarray(0, shown)) : json.payload;
  // Only the whole of it is JSON.
  return { text: form === 'json' && shown === all.length ? indented(text) : text, shown, bytes: all.length };
}

/** The payload in one line of at most `max` characters. */
export function brief(json, max) {
  if (bytesOf(json) === null) return '(hidden)';
  if (json.payloadBase64 !== undefined) return `${[...bytesOf(json).subarray(0, max / 4)].map(two).join(' ')}`;
  return json.payload.slice(0, max).replace(/\s+/g, ' ');
}

const two = (byte) => byte.toString(16).padStart(2, '0');

/** Offset, bytes and printable characters of each 16 bytes. */
export function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += HEX_LINE) {
    const some = [...bytes.subarray(at, at + HEX_LINE)];
    const chars = some.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${some.map(two).join(' ').padEnd(HEX_LINE * 3 - 1)}  ${chars}`);
  }
  return lines.join('\n');
}

/** JSON with a line for each value. Only spaces change: numbers keep all their digits. */
export function indented(json) {
  const out = [];
  let depth = 0;
  let last = null;
  const line = () => out.push(`\n${'  '.repeat(depth)}`);
  for (const [token] of json.matchAll(/"(?:\\.|[^"\\])*"|[[\]{},:]|[^\s[\]{},:"]+/g)) {
    const opened = last === '{' || last === '[';
    if (token === '}' || token === ']') {
      depth--;
      if (!opened) line();
    } else if (opened || last === ',') {
      line();
    }
    out.push(token === ':' ? ': ' : token);
    if (token === '{' || token === '[') depth++;
    last = token;
  }
  return out.join('');
}

/** A word of a shell command. */
export const shellWord = (text) => (/^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command that prints messages. */
export function command(topic, options) {
  const words = ['evenkeel', 'topic', 'messages', topic];
  for (const [name, value] of Object.entries(options)) {
    if (value === true) words.push(`--${name}`);
    else if (value !== null && value !== undefined && value !== '' && value !== false) words.push(`--${name}`, String(value));
  }
  return words.map(shellWord).join(' ');
}
