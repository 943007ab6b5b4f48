package dev.evenkeel.broker.state;

/**
 * A row of table FAILURES as it shall be.
 *
 * @param value null: the row goes
 */
public record FailureRow(byte[] key, byte[] value) {}
