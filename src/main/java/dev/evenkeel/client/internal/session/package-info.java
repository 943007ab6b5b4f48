/**
 * The connection of a client that has no clustered Vert.x of its own.
 *
 * <p>Begin with {@link dev.evenkeel.client.internal.session.RejoiningLink}: it leaves the cluster
 * when no node is in sight, and joins again as soon as a node answers.
 */
package dev.evenkeel.client.internal.session;
