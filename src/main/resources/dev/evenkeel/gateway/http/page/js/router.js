/**
 * Addresses of pages: `#/topics/orders/messages?shard=3`. A page is an object
 * `{ route, kind, title, tab, component }`; its route has parts like `:topic`.
 */

/** The address of a page: link('topics', 'a/b', 'messages') gives `#/topics/a%2Fb/messages`. An object at the end is the query. */
export function link(...parts) {
  const query = typeof parts.at(-1) === 'object' ? new URLSearchParams(parts.pop()) : '';
  const path = parts.map((part) => `/${encodeURIComponent(part)}`).join('');
  return `#${path || '/'}${query.toString() === '' ? '' : `?${query}`}`;
}

/** Addresses of earlier versions, which people have as bookmarks; null if it is none of them. */
export function moved(hash) {
  const match = /^#group=(.+)$/.exec(hash);
  const group = match && decoded(match[1]);
  return group === null ? null : link('groups', group);
}

/**
 * What an address names.
 *
 * @return `{ path, page, params, query }`, where page is null if no route matches
 */
export function locate(pages, hash) {
  const [path, search = ''] = split(hash.replace(/^#/, ''));
  const parts = path.split('/').filter((part) => part !== '').map(decoded);
  const query = Object.fromEntries(new URLSearchParams(search));
  for (const page of pages) {
    const params = paramsOf(page.route, parts);
    if (params !== null) return { path: `/${parts.join('/')}`, page, params, query };
  }
  return { path, page: null, params: {}, query };
}

/** The pages about the same thing, which the shell shows as tabs: those with its first two parts. */
export function siblings(pages, page) {
  const thing = page.route.split('/').slice(0, 3).join('/');
  return page.tab === undefined ? [] : pages.filter(({ route, tab }) => tab !== undefined && `${route}/`.startsWith(`${thing}/`));
}

/** The address of a page with these params. */
export const addressOf = (page, params) =>
  link(...page.route.split('/').filter((part) => part !== '').map((part) => (part.startsWith(':') ? params[part.slice(1)] : part)));

function paramsOf(route, parts) {
  const wanted = route.split('/').filter((part) => part !== '');
  if (wanted.length !== parts.length) return null;
  const params = Object.create(null);
  for (let i = 0; i < wanted.length; i++) {
    if (parts[i] === null) return null;
    if (wanted[i].startsWith(':')) params[wanted[i].slice(1)] = parts[i];
    else if (wanted[i] !== parts[i]) return null;
  }
  return params;
}

function split(address) {
  const at = address.indexOf('?');
  return at < 0 ? [address] : [address.slice(0, at), address.slice(at + 1)];
}

/** Null if it is no encoded text. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch (e) {
    return null;
  }
}
