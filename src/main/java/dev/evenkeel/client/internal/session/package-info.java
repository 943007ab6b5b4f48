/**
 * The connection of a client that has no clustered Vert.x of its own: a session over the client
 * ports of nodes.
 *
 * <p>Begin with {@link dev.evenkeel.client.internal.session.SessionLink}. It finds nodes with
 * {@link dev.evenkeel.client.internal.session.NodeSearch}; one {@link
 * dev.evenkeel.client.internal.session.NodeConnection} carries requests to a node.
 */
package dev.evenkeel.client.internal.session;
