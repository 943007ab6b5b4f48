package dev.evenkeel.broker.machine;

import dev.evenkeel.wire.ByteReader;
import dev.evenkeel.wire.Bytes;
import dev.evenkeel.wire.FeatureLevel;

/**
 * What the store keeps beside the applied position: {@code u8 level}. A state of the first level
 * has no note, so that builds from before there were notes can read it.
 *
 * @param level the highest {@link FeatureLevel} of all entries applied: a node needs it to read the
 *     state
 */
record StateNote(int level) {

  byte[] encode() {
    return level == FeatureLevel.FIRST ? null : new Bytes(1).u8(level).toArray();
  }

  static StateNote decode(byte[] bytes) {
    return new StateNote(bytes == null ? FeatureLevel.FIRST : new ByteReader(bytes).u8());
  }
}
