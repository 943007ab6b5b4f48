/**
 * The live view's server side: one state of the cluster a node, sent to all who watch as a snapshot
 * and then as RFC 7396 merge patches. The state and its figures are made without clock and I/O;
 * {@code LiveHub} and {@code LiveSources} are the shell around them.
 */
package dev.evenkeel.web.live;
