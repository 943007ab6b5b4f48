/**
 * The broker verticle. It starts the parts of a node that keep messages, and answers requests for
 * them.
 *
 * <p>Begin with {@link dev.evenkeel.broker.BrokerVerticle}. {@code node} holds the logs and stores,
 * {@code serve} answers requests, {@code decide} says what a command changes, {@code state} holds
 * the records, {@code machine} applies them, {@code member} forms the cluster.
 */
package dev.evenkeel.broker;
