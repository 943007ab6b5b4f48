import { html, render } from './lib.js';
import { Account } from './account.js';
import { App, titleOf } from './app.js';
import { Feed } from './feed.js';
import { History } from './history.js';
import { Keyboard } from './keyboard.js';
import { News } from './news.js';
import { PAGES } from './pages.js';
import { locate, moved } from './router.js';
import { Travel } from './travel.js';

const SAMPLE_MILLIS = 1000;
const LOST = 'Stale: no connection to the node';
const FOUND = 'Connected again';

const root = document.getElementById('page');
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
let place = null;
let arrived = false;
let drawn = { group: null, shards: null };
let asked = false;
let snapshots = 0;
let condition = null;

/** The group that the page is about, or null. */
const chosen = () => place.params.group ?? null;

/** The address has changed. What was an address once leads to where its page is now. */
function arrive() {
  const elsewhere = moved(location.hash);
  if (elsewhere !== null) location.replace(elsewhere);
  const path = place?.path ?? null;
  place = locate(PAGES, elsewhere ?? location.hash);
  arrived ||= path !== null && path !== place.path;
  show({ focus: null });
  update();
}

/** A shard's samples. */
const lines = (key) => history.line('shards', key);

/** At most one drawing a frame, however many changes come; also in a hidden tab, for its title. */
function draw() {
  asked = false;
  const group = chosen();
  const shards = feed.state?.groups?.[group]?.shards ?? null;
  const from = group === drawn.group ? travel.depart(drawn.shards, shards) : new Map();
  keyboard.remember();
  render(
    html`<${App} feed=${feed} account=${account} state=${feed.state} place=${place} history=${history} lines=${lines} onClose=${() => show({ focus: null })} onEnter=${() => feed.hurry()} onLeave=${leave} ...${view} />`,
    root,
  );
  keyboard.attach(document.getElementById('board'));
  keyboard.restore();
  travel.arrive(from);
  if (arrived) {
    arrived = false;
    document.getElementById('heading')?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }
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
  document.title = `${now === 'stale' ? 'stale · ' : ''}${titleOf(place)} · Evenkeel`;
  if (feed.state !== null) {
    news.take(feed.state, chosen(), feed.snapshots !== snapshots);
    // Another snapshot may come because the account may do something else now.
    if (snapshots > 0 && feed.snapshots !== snapshots) account.look();
    snapshots = feed.snapshots;
  }
  ask();
}

function sample() {
  const now = Date.now() / 1000;
  if (feed.condition() === 'live') history.sample(feed.state, chosen(), now);
  else history.gap(now);
  view.tick++;
  update();
}

addEventListener('hashchange', arrive);
setInterval(sample, SAMPLE_MILLIS);
arrive();
feed.start();
account.look();
