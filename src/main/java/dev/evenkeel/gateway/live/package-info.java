/**
 * The server side of the live view: one state of the cluster per node, sent to every viewer as a
 * snapshot and then as RFC 7396 merge patches.
 *
 * <p>Begin with {@code LiveHub}. {@code LiveState} and its parts have no clock and no I/O.
 */
package dev.evenkeel.gateway.live;
