/**
 * The implementation of the client. It is no API: it changes without notice.
 *
 * <p>{@link dev.evenkeel.client.internal.EvenkeelClientImpl} ties the parts together: {@code
 * session} keeps the connection, {@code produce} and {@code spool} send, {@code member} and {@code
 * consume} receive.
 */
package dev.evenkeel.client.internal;
