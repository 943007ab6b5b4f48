import { Overview } from './pages/overview.js';
import { GroupPage } from './pages/group.js';
import { FailuresPage } from './pages/failures.js';
import { Messages } from './pages/messages.js';

/**
 * All pages. To add one, add a line here.
 *
 * - `route`: its address after the `#`; parts like `:group` become `params`
 * - `kind`: what the title names (a group, a topic); may be left out
 * - `title`: makes the heading from `params`
 * - `tab`: its name among the pages about the same thing; without one it has no tabs
 * - `board`: true if it shows the board of the group
 * - `component`: draws all below the heading
 */
export const PAGES = [
  { route: '/', title: () => 'Overview', component: Overview },
  { route: '/groups/:group', kind: 'group', title: ({ group }) => group, tab: 'Board', board: true, component: GroupPage },
  { route: '/groups/:group/failures', kind: 'group', title: ({ group }) => group, tab: 'Failures', component: FailuresPage },
  { route: '/topics/:topic/messages', kind: 'topic', title: ({ topic }) => topic, tab: 'Messages', component: Messages },
];
