import { apiPath, ask } from '../api.js';
import { plural } from '../words.js';

const ROWS_MAX = 50;
const wanted = (names) => (names === null ? { all: true } : { deadLetters: names });
const rows = (names) => (names === null ? undefined : { head: ['dead letter'], rows: names.slice(0, ROWS_MAX).map((name) => [name]).concat(names.length > ROWS_MAX ? [[`and ${names.length - ROWS_MAX} more`]] : []) });
const counted = (group, verb, names) => ask('POST', apiPath('groups', group, 'dead-letters', verb), { ...wanted(names), dryRun: true });
const NONE = 'there is none of them any more';

/**
 * @param names of dead letters, such as `orders/2/17`; null: all
 */
export const replay = (group, names, onDone = () => {}) => ({
  title: `Replay dead letters of ${group}`,
  verb: 'Replay',
  fields: () => [],
  look: async () => {
    const { count } = await counted(group, 'replay', names);
    return {
      says: [`Gives ${plural(count, 'dead letter')} to ${group} again, as if ${count === 1 ? 'it' : 'they'} had never been tried. ${count === 1 ? 'It keeps' : 'They keep'} no order with messages that were handled meanwhile.`],
      table: rows(names),
      refused: count === 0 ? NONE : null,
    };
  },
  run: async () => {
    const { count } = await ask('POST', apiPath('groups', group, 'dead-letters', 'replay'), wanted(names));
    onDone();
    return { says: [`Replayed ${plural(count, 'dead letter')}.`] };
  },
});

export const drop = (group, names, onDone = () => {}) => ({
  title: `Drop dead letters of ${group}`,
  verb: 'Drop for good',
  fields: () => [],
  look: async () => {
    const { count } = await counted(group, 'drop', names);
    return {
      says: [`Deletes ${plural(count, 'dead letter')} of ${group} for good. ${count === 1 ? 'Its message counts' : 'Their messages count'} as consumed.`],
      table: rows(names),
      refused: count === 0 ? NONE : null,
      confirm: group,
    };
  },
  run: async () => {
    const { count } = await ask('POST', apiPath('groups', group, 'dead-letters', 'drop'), wanted(names));
    onDone();
    return { says: [`Dropped ${plural(count, 'dead letter')}.`] };
  },
});
