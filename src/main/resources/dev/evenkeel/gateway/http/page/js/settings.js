import { TOPIC_SETTINGS } from './topic-settings.js';
import { parseCount, parseSize, parseTime, showCount, showSize, showTime } from './units.js';
import { bytes, count, seconds } from './words.js';

/** What a value is: how people write it and how it is shown, `words` for reading only. */
const FORMS = {
  TIME: { parse: parseTime, show: showTime, words: (millis) => seconds(millis / 1000), right: 'write 200ms, 5s, 2m, 1h or 7d' },
  SIZE: { parse: parseSize, show: showSize, words: bytes, right: 'write 4096, 64KiB, 512MiB or 1GiB' },
  N: { parse: parseCount, show: showCount, words: count, right: 'write a whole number' },
};

/** The settings of a topic, as the node declares them: `name` in JSON, `title`, `usual` value, `help`; and how they are shown. */
export const SETTINGS = TOPIC_SETTINGS.map(({ form, ...setting }) => {
  const [type, off] = form.split('|');
  const { title, help } = setting;
  return { ...setting, ...FORMS[type], label: title[0].toUpperCase() + title.slice(1), mayBeOff: off !== undefined, hint: off === undefined ? help : `${help} Or off.` };
});
