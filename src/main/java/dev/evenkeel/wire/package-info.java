/**
 * Versioned bytes: batches and their messages with CRC-32C, commands, entries and replies.
 *
 * <p>What is written here lies in logs and on disks, so a format changes only by a new version. It
 * imports {@code model}, knows no clock and does no input or output.
 */
package dev.evenkeel.wire;
