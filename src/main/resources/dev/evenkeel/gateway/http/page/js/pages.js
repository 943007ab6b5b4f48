import { ClusterPage, GroupsPage, TopicsPage } from './pages/lists.js';
import { GroupPage } from './pages/group.js';
import { FailuresPage } from './pages/failures.js';
import { Messages } from './pages/messages.js';
import { MovesPage } from './pages/moves.js';
import { Overview } from './pages/overview.js';
import { PlanPage } from './pages/plan.js';
import { TopicPage } from './pages/topic.js';

/**
 * All pages. To add one, add a line here.
 *
 * - `route`: its address after the `#`; parts like `:group` become `params`
 * - `kind`: what the title names (a group, a topic); may be left out
 * - `title`: makes the heading from `params`
 * - `tab`: its name among the pages about the same thing; without one it has no tabs
 * - `nav`: true if the navigation at the top leads to it
 * - `board`: true if it shows the board of the group
 * - `component`: draws all below the heading
 */
export const PAGES = [
  { route: '/', title: () => 'Overview', nav: true, component: Overview },
  { route: '/topics', title: () => 'Topics', nav: true, component: TopicsPage },
  { route: '/topics/:topic', kind: 'topic', title: ({ topic }) => topic, tab: 'Shards', component: TopicPage },
  { route: '/topics/:topic/messages', kind: 'topic', title: ({ topic }) => topic, tab: 'Messages', component: Messages },
  { route: '/groups', title: () => 'Groups', nav: true, component: GroupsPage },
  { route: '/groups/:group', kind: 'group', title: ({ group }) => group, tab: 'Board', board: true, component: GroupPage },
  { route: '/groups/:group/failures', kind: 'group', title: ({ group }) => group, tab: 'Failures', component: FailuresPage },
  { route: '/groups/:group/moves', kind: 'group', title: ({ group }) => group, tab: 'Moves', component: MovesPage },
  { route: '/groups/:group/plan', kind: 'group', title: ({ group }) => group, tab: 'What if', component: PlanPage },
  { route: '/moves', title: () => 'Moves', nav: true, component: MovesPage },
  { route: '/cluster', title: () => 'Cluster', nav: true, component: ClusterPage },
];
