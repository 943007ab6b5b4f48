import { html, render } from './lib.js';
import { Account } from './account.js';
import { App } from './app.js';
import { Feed } from './feed.js';
import { groupOfHash } from './groups.js';
import { History } from './history.js';
import { Keyboard } from './keyboard.js';
import { byName } from './model.js';
import { News } from './news.js';
import { Travel } from './travel.js';

const SAMPLE_MILLIS = 1000;
const LOST = 'Stale: no connection to the node';
const FOUND = 'Connected again';

const place = document.getElementById('page');
const history = new History();
const travel = new Travel(document.getElementById('sky'));
const keyboard = new Keyboard((focus) => show({ focus }));
const news = new News((said) => show({ said }));
const address = new URL('ws/live', document.baseURI);
address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
const account = new Account(new URL('api/session', document.baseURI).href, () => update());
const feed = new Feed(
  address.href,
  () => update(),
  () => account.look(),
  () => !account.locked,
);

const view = { focus: null, said: '', tick: 0 };
let first = null;
let drawn = { group: null, shards: null };
let asked = false;
let snapshots = 0;
let condition = null;

/** The group of the address; without one the first that was there, as long as it is. */
function chosen() {
  const wanted = groupOfHash(location.hash);
  if (wanted !== null) return wanted;
  const groups = feed.state?.groups ?? {};
  if (first === null || !(first in groups)) first = Object.keys(groups).sort(byName)[0] ?? null;
  return first;
}

let drawnLines = new Map();

/** A shard's samples: the same array until the next sample. */
function lines(key) {
  if (!drawnLines.has(key)) drawnLines.set(key, history.shards.get(key)?.values(0));
  return drawnLines.get(key);
}

/** At most one drawing a frame, however many changes come; also in a hidden tab, for its title. */
function draw() {
  asked = false;
  const group = chosen();
  const shards = feed.state?.groups?.[group]?.shards ?? null;
  const from = group === drawn.group ? travel.depart(drawn.shards, shards) : new Map();
  keyboard.remember();
  render(
    html`<${App} feed=${feed} account=${account} state=${feed.state} chosen=${group} history=${history} lines=${lines} onClose=${() => show({ focus: null })} onEnter=${() => feed.hurry()} onLeave=${leave} ...${view} />`,
    place,
  );
  keyboard.attach(document.getElementById('board'));
  keyboard.restore();
  travel.arrive(from);
  drawn = { group, shards };
}

function ask() {
  if (!asked) {
    asked = true;
    requestAnimationFrame(draw);
  }
}

async function leave() {
  await account.leave();
  feed.forget();
}

function show(change) {
  Object.assign(view, change);
  ask();
}

/** Something arrived, or the connection changed. */
function update() {
  const now = feed.condition();
  if (condition !== null && now !== condition) {
    if (now === 'stale') news.tell(LOST, FOUND);
    if (now === 'live' && condition === 'stale') news.tell(FOUND, LOST);
  }
  condition = now;
  document.title = now === 'stale' ? 'stale · Evenkeel' : 'Evenkeel';
  if (feed.state !== null) {
    news.take(feed.state, chosen(), feed.snapshots !== snapshots);
    snapshots = feed.snapshots;
  }
  ask();
}

function sample() {
  const now = Date.now() / 1000;
  if (feed.condition() === 'live') history.sample(feed.state, chosen(), now);
  else history.gap(now);
  view.tick++;
  drawnLines = new Map();
  update();
}

addEventListener('hashchange', () => show({ focus: null }));
setInterval(sample, SAMPLE_MILLIS);
feed.start();
account.look();
