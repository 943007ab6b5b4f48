/**
 * One action of an operator, from its form to its end. Pure: the dialog asks the node, and tells
 * here what came of it.
 *
 * | phase     | event           | next phase                                    |
 * |-----------|-----------------|-----------------------------------------------|
 * | `loading` | `loaded`        | `form`, or `looking` if there is no field     |
 * | `loading` | `refused`       | `failed`                                      |
 * | `form`    | `field`         | `form`                                        |
 * | `form`    | `look`          | `looking`, or `form` with what is wrong       |
 * | `looking` | `found`         | `preview`                                     |
 * | `looking` | `refused`       | `form` with the reason; `failed` without form |
 * | `preview` | `typed`         | `preview`                                     |
 * | `preview` | `back`          | `form`                                        |
 * | `preview` | `run`           | `running`, if {@link mayRun}                  |
 * | `running` | `done`          | `done`                                        |
 * | `running` | `refused`       | `failed`                                      |
 * | `failed`  | `back`          | `form`, or `looking` if there is no field     |
 *
 * Any other event changes nothing: an answer may come when nobody waits for it any more.
 */
export const start = () => ({ phase: 'loading', fields: [], values: {}, last: null, wrong: null, effect: null, typed: '', result: null });

const toForm = (state, wrong = null) => ({ ...state, phase: 'form', wrong, effect: null, typed: '' });
const toLook = (state) => ({ ...state, phase: 'looking', wrong: null, effect: null, typed: '' });

/**
 * @param event `{type}` and with `loaded` the `fields`, with `field` a `name` and `value`, with `look`
 *   what is `wrong` with the form or null, with `found` the `effect`, with `typed` a `text`, with
 *   `done` the `result`, and with `refused` the `reason`
 */
export function step(state, event) {
  switch (`${state.phase} ${event.type}`) {
    case 'loading loaded': {
      const values = Object.fromEntries(event.fields.map((field) => [field.name, field.value ?? '']));
      const next = { ...state, fields: event.fields, values };
      return event.fields.length === 0 ? toLook(next) : toForm(next);
    }
    case 'form field':
      return { ...state, values: { ...state.values, [event.name]: event.value }, last: event.name, wrong: null };
    case 'form look':
      return event.wrong ? { ...state, wrong: event.wrong } : toLook(state);
    case 'looking found':
      return { ...state, phase: 'preview', effect: event.effect };
    case 'looking refused':
      return state.fields.length === 0 ? { ...state, phase: 'failed', wrong: event.reason } : toForm(state, event.reason);
    case 'preview typed':
      return { ...state, typed: event.text };
    case 'preview back':
      return state.fields.length === 0 ? state : toForm(state);
    case 'preview run':
      return mayRun(state) ? { ...state, phase: 'running' } : state;
    case 'running done':
      return { ...state, phase: 'done', result: event.result };
    case 'running refused':
    case 'loading refused':
      return { ...state, phase: 'failed', wrong: event.reason };
    case 'failed back':
      return state.fields.length === 0 ? toLook(state) : toForm(state);
    default:
      return state;
  }
}

/** Whether the effect was shown, the node would do it, and who drops data has typed the name. */
export function mayRun(state) {
  if (state.phase !== 'preview' || state.effect.refused) return false;
  return !state.effect.confirm || state.typed === state.effect.confirm;
}
