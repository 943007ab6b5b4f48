const TIMES = [
  ['d', 86400000],
  ['h', 3600000],
  ['m', 60000],
  ['s', 1000],
  ['ms', 1],
];
const SIZES = [
  ['TiB', 2 ** 40],
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['', 1],
];

/** As the command line reads them. What is off is -1 for the node. */
export const OFF = 'off';

function parse(text, units, unit) {
  const form = /^(\d{1,15})\s*([a-z]*)$/i.exec(text.trim());
  const factor = form && units.find(([name]) => name.toLowerCase() === (form[2].toLowerCase() || unit))?.[1];
  const value = factor ? Number(form[1]) * factor : NaN;
  return Number.isSafeInteger(value) ? value : null;
}

/** Milliseconds of `200ms`, `5s`, `2m`, `1h` or `7d`; null if it is something else. */
export const parseTime = (text) => parse(text, TIMES, 'none');

/** Bytes of `4096`, `64KiB`, `512MiB` or `1GiB`; null if it is something else. */
export const parseSize = (text) => parse(text, SIZES, '');

const show = (value, units) => {
  const [unit, factor] = units.find(([, size]) => value !== 0 && value % size === 0) ?? units[units.length - 1];
  return `${value / factor}${unit}`;
};

/** A whole number; null if it is something else. */
export const parseCount = (text) => parse(text, [['', 1]], '');

export const showTime = (millis) => (millis < 0 ? OFF : millis === 0 ? '0s' : show(millis, TIMES));
export const showSize = (bytes) => (bytes < 0 ? OFF : show(bytes, SIZES));
export const showCount = (n) => (n < 0 ? OFF : String(n));
