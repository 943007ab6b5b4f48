package dev.evenkeel.broker.state;

import java.util.BitSet;

/** Positions of messages in a batch, from 0. Immutable. */
public final class PositionSet {
  public static final PositionSet NONE = new PositionSet(new BitSet());

  private final BitSet bits;

  private PositionSet(BitSet bits) {
    this.bits = bits;
  }

  /** The positions that {@link #bytes} wrote. */
  static PositionSet of(byte[] bytes) {
    return new PositionSet(BitSet.valueOf(bytes));
  }

  public byte[] bytes() {
    return bits.toByteArray();
  }

  public boolean isEmpty() {
    return bits.isEmpty();
  }

  public int size() {
    return bits.cardinality();
  }

  public boolean has(int position) {
    return bits.get(position);
  }

  /**
   * The first position that is not in it.
   *
   * @param from 0 or more
   */
  public int nextAbsent(int from) {
    return bits.nextClearBit(from);
  }

  /** The positions below {@code end} that are not among these. */
  public static PositionSet allBut(int[] positions, int end) {
    BitSet rest = new BitSet(end);
    rest.set(0, end);
    for (int position : positions) {
      rest.clear(position);
    }
    return new PositionSet(rest);
  }

  public PositionSet with(int position) {
    BitSet more = (BitSet) bits.clone();
    more.set(position);
    return new PositionSet(more);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof PositionSet set && set.bits.equals(bits);
  }

  @Override
  public int hashCode() {
    return bits.hashCode();
  }

  @Override
  public String toString() {
    return bits.toString();
  }
}
