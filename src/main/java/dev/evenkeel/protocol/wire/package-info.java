/**
 * The versioned bytes of batches, commands, log entries and replies, with CRC-32C.
 *
 * <p>These bytes are in logs and on disks, so a format may change only under a new version. Begin
 * with {@link dev.evenkeel.protocol.wire.Batch} and {@link dev.evenkeel.protocol.wire.Entry}.
 */
@NullMarked
package dev.evenkeel.protocol.wire;

import org.jspecify.annotations.NullMarked;
