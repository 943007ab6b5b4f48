/**
 * Topics, groups and producing for programs without this library: JSON at documented event-bus
 * addresses.
 *
 * <p>It imports what {@code client} may.
 */
package dev.evenkeel.client.gateway;
