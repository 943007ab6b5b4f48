import { apiPath, ask } from '../api.js';
import { bytes, known, plural } from '../words.js';

async function nodeOf(name) {
  const cluster = await ask('GET', 'api/cluster');
  const node = cluster.nodes.find((each) => each.node === name) ?? {};
  return { cluster, node, leads: cluster.logs.filter((log) => log.leader === name).map((log) => log.group) };
}

export const drain = (name) => ({
  title: `Drain the node ${name}`,
  verb: 'Drain',
  fields: () => [],
  look: async () => {
    const { cluster, node, leads } = await nodeOf(name);
    return {
      says: [
        `${name} gives ${known(node.votes) ? `its ${plural(node.votes, 'copy', 'copies')} of log groups` : 'all its copies'}${known(node.bytes) ? `, ${bytes(node.bytes)},` : ''} to other nodes${leads.length === 0 ? '' : `, and the lead of ${leads.join(', ')}`}.`,
        'It goes on serving clients, and stays in the cluster until it is removed. It gets data again when somebody ends the drain.',
      ],
      refused: cluster.nodes.length === 1 ? 'it is the only node: nobody could take its data' : null,
    };
  },
  run: async () => {
    const { bytesLeft, groups = {} } = await ask('POST', apiPath('cluster', 'nodes', name, 'drain'));
    return { says: [`${name} drains: ${plural(Object.keys(groups).length, 'copy', 'copies')} and ${bytes(bytesLeft) ?? 'an unknown number of bytes'} are left.`] };
  },
});

export const undrain = (name) => ({
  title: `End the drain of ${name}`,
  verb: 'End the drain',
  fields: () => [],
  look: async () => ({ says: [`${name} takes copies and leads again.`] }),
  run: async () => {
    await ask('POST', apiPath('cluster', 'nodes', name, 'undrain'));
    return { says: [`${name} keeps data again.`] };
  },
});
