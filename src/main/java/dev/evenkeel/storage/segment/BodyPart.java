package dev.evenkeel.storage.segment;

import java.nio.ByteBuffer;

/**
 * A part of an entry's body to be read.
 *
 * @param index of the log entry
 * @param offset from the beginning of the body
 * @param into filled from its position to its limit
 */
public record BodyPart(long index, int offset, ByteBuffer into) {}
