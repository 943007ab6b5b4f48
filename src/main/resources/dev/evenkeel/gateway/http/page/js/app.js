import { html } from './lib.js';
import { CreateTopic, GroupActions, TopicActions } from './actions/bars.js';
import { Actions } from './actions/dialog.js';
import { PAGES } from './pages.js';
import { addressOf, link, siblings } from './router.js';
import { Header, Notice } from './header.js';
import { LoggedIn, Login } from './login.js';
import { Search } from './search.js';

const NAVIGATION = PAGES.filter((page) => page.nav);

/** What the address names, in words: for the title of the window. */
export function titleOf({ page, params }) {
  if (page === null) return 'Not found';
  const title = page.title(params);
  const words = [page.kind === undefined ? title : `${page.kind} ${title}`];
  if (page.tab !== undefined && siblings(PAGES, page)[0] !== page) words.unshift(page.tab);
  return words.join(' · ');
}

/** Whether a page of the navigation is shown, or one below it. */
function within({ path, page }, of) {
  if (page === of) return 'page';
  return of.route !== '/' && path.startsWith(`${of.route}/`) ? 'true' : undefined;
}

/** The heading of a page, to which the focus goes when the address changes, and the pages about the same thing. */
function Head({ page, params, children }) {
  const tabs = siblings(PAGES, page);
  return html`<div class="head">
    <h1 id="heading" tabindex="-1">${page.kind !== undefined && html`<span class="kind">${page.kind}</span> `}${page.title(params)}</h1>
    ${tabs.length > 1 &&
    html`<nav class="tabs" aria-label=${`Pages of ${page.kind} ${page.title(params)}`}>
      ${tabs.map((tab) => html`<a href=${addressOf(tab, params)} aria-current=${tab === page ? 'page' : undefined}>${tab.tab}</a>`)}
    </nav>`}
    ${children}
  </div>`;
}

/** What the account may do with what the page is about. Effects are shown of the state at that moment. */
function PageActions({ place, account, state, now }) {
  const { page, params } = place;
  if (page.route === '/topics') return html`<${CreateTopic} account=${account} />`;
  if (page.kind === 'topic' && state?.topics?.[params.topic]) return html`<${TopicActions} topic=${params.topic} account=${account} groups=${() => now().groups ?? {}} />`;
  const group = page.kind === 'group' && state?.groups?.[params.group];
  return group && html`<${GroupActions} name=${params.group} group=${group} account=${account} live=${() => now().groups?.[params.group]} />`;
}

function NotFound({ path }) {
  return html`<div class="head"><h1 id="heading" tabindex="-1">Not found</h1></div>
    <p class="empty">There is no page at ${path}. <a href=${link()}>Go to the overview</a></p>`;
}

function Content({ place, account, state, now, view }) {
  const { page, params, query, path } = place;
  if (page === null) return html`<${NotFound} path=${path} />`;
  const body = account.blind()
    ? html`<p class="empty">The user “${account.user}” may see nothing here: it needs the permission view:NAME for a topic or group.</p>`
    : state === null
      ? html`<p class="empty">Waiting for the node …</p>`
      : html`<${page.component} key=${path} params=${params} query=${query} state=${state} account=${account} ...${view} />`;
  return html`<${Head} page=${page} params=${params}><${PageActions} place=${place} account=${account} state=${state} now=${now} /><//>${body}`;
}

/** Everything around the pages. */
export function App({ feed, account, state, place, said, onEnter, onLeave, ...view }) {
  if (account.locked)
    return html`<div class="page">
      <${Header} feed=${feed} state=${null} />
      <main><${Login} account=${account} onEnter=${onEnter} /></main>
    </div>`;
  return html`<div class="page" data-condition=${feed.condition()}>
    <a class="skip" href="#heading" onClick=${(event) => skip(event, '#heading')}>Skip to the content</a>
    ${place.page?.board && html`<a class="skip" href="#board" onClick=${(event) => skip(event, '#board [tabindex="0"]')}>Skip to the shards</a>`}
    <${Header} feed=${feed} state=${state}><${Search} state=${state} /><${LoggedIn} account=${account} onLeave=${onLeave} /><//>
    <nav class="pages" aria-label="Pages">
      ${NAVIGATION.map((page) => html`<a href=${addressOf(page)} aria-current=${within(place, page)}>${page.title()}</a>`)}
    </nav>
    <${Notice} feed=${feed} state=${state} />
    <main><${Content} place=${place} account=${account} state=${state} now=${() => feed.state ?? {}} view=${view} /></main>
    <${Actions} />
    <footer><p class="news" role="status" aria-live="polite" aria-label="News">${said}</p></footer>
  </div>`;
}

/** The address keeps the page. */
function skip(event, target) {
  event.preventDefault();
  document.querySelector(target)?.focus();
}
