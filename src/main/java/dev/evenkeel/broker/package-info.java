/**
 * The broker: deterministic state machines over log and store, and the verticle that serves them.
 *
 * <p>{@code state} holds records, {@code decide} what follows from commands, {@code machine} ties
 * both to log and store, {@code serve} answers requests. All of it imports {@code model}, {@code
 * wire}, {@code log}, {@code store} and {@code bus}, and neither Ratis nor RocksDB.
 */
package dev.evenkeel.broker;
