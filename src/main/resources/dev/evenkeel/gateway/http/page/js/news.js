import { plural } from './words.js';

const SAY_MILLIS = 1500;
const WAITING_MAX = 50;
const NAMED_MAX = 3;

const moveKeys = (state) => Object.keys(state.moves ?? {}).map(Number);

/** What a person would say happened between two states of a group, oldest first. */
export function happened(before, after, group, lastMove) {
  const news = [];
  const old = before.groups?.[group];
  const now = after.groups?.[group];
  if (old && now) {
    const named = (list, verb) =>
      list.length > NAMED_MAX ? news.push(`${plural(list.length, 'consumer')} ${verb}`) : list.forEach((name) => news.push(`${name} ${verb}`));
    named(Object.keys(now.members ?? {}).filter((name) => !(name in (old.members ?? {}))), 'joined');
    named(Object.keys(old.members ?? {}).filter((name) => !(name in (now.members ?? {}))), 'left');
  }
  if (old && now && !old.paused !== !now.paused) news.push(now.paused ? 'paused' : 'resumed');
  const moves = moveKeys(after)
    .filter((key) => key > lastMove && after.moves[key].group === group)
    .sort((a, b) => a - b)
    .map((key) => after.moves[key]);
  if (moves.length > NAMED_MAX) {
    news.push(`${moves.length} shards moved`);
  } else {
    moves.forEach((move) =>
      news.push(`${move.topic}/${move.shard} moved ${move.from ? `from ${move.from} ` : ''}to ${move.to ?? 'no owner'}`),
    );
  }
  return news;
}

/** Says what happened, at a pace that can be listened to. */
export class News {
  constructor(say) {
    this.say = say;
    this.waiting = [];
    this.timer = null;
    this.state = null;
    this.lastMove = 0;
  }

  /** @param fresh a snapshot: the numbers of its moves may have begun anew */
  take(state, group, fresh) {
    if (this.state !== null && this.state !== state && group !== null) {
      const from = fresh ? Infinity : this.lastMove;
      this.waiting.push(...happened(this.state, state, group, from));
    }
    if (this.state !== state) {
      this.lastMove = Math.max(fresh ? 0 : this.lastMove, ...moveKeys(state), 0);
      this.state = state;
    }
    this.speak();
  }

  /** @param instead a sentence that is no longer true, in case it has not been said yet */
  tell(sentence, instead = null) {
    this.waiting = this.waiting.filter((other) => other !== instead);
    this.waiting.push(sentence);
    this.speak();
  }

  speak() {
    if (this.timer !== null || this.waiting.length === 0) return;
    const sentences = this.waiting.splice(0);
    this.say(sentences.length > WAITING_MAX ? `${sentences.length} changes` : gather(sentences).join('. '));
    this.timer = setTimeout(() => {
      this.timer = null;
      this.speak();
    }, SAY_MILLIS);
  }
}

/** Many single moves become one sentence. */
function gather(sentences) {
  const moves = sentences.filter((sentence) => sentence.includes(' moved '));
  if (moves.length <= NAMED_MAX) return sentences;
  return [...sentences.filter((sentence) => !sentence.includes(' moved ')), `${moves.length} shards moved`];
}
