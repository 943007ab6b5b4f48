package dev.evenkeel.broker.state;

import org.jspecify.annotations.Nullable;

/**
 * The new value of a row of table FAILURES.
 *
 * @param value null: deletes the row
 */
public record FailureRow(byte[] key, byte @Nullable [] value) {}
