/**
 * The public way in for applications: joins a cluster, and makes producers and consumers.
 *
 * <p>{@code Evenkeel} is where to begin. A lost connection is joined afresh underneath. It imports
 * {@code model}, {@code wire}, {@code bus}, {@code consumer}, {@code producer} and {@code cluster}.
 */
package dev.evenkeel.client;
