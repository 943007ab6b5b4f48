/**
 * What travels on the event bus: addresses, frames, requests and answers, and the {@code Link} that
 * carries them.
 *
 * <p>{@code ClusterDirectory} knows who leads what. It imports {@code model} and {@code wire}.
 */
package dev.evenkeel.bus;
