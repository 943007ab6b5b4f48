package dev.evenkeel.protocol.wire;

import java.util.List;
import java.util.Objects;

/**
 * The bytes of a public record that got more components at its end, version by version. Those that
 * are as usual are left out from the end, so that a record without them is as former versions wrote
 * it. The first component is a long, and never {@link #GROWN}.
 */
final class GrownRecord<T> implements Codec<T> {
  /** In front of the components: the number of added ones follows. "grown" in ASCII, negative. */
  private static final long GROWN = -0x67726F776EL;

  private final RecordLayout<T> layout;
  private final Object[] usual;
  private final List<Integer> levels;

  /**
   * @param usual has the values of components that are left out
   * @param levels the {@link FeatureLevel} that reads each of the added components
   */
  GrownRecord(Class<T> type, T usual, List<Integer> levels) {
    layout = new RecordLayout<>(type);
    this.usual = layout.values(usual);
    this.levels = levels;
  }

  /** How many of the added components are written. */
  private int added(Object[] values) {
    int first = values.length - levels.size();
    int all = values.length;
    while (all > first && Objects.equals(values[all - 1], usual[all - 1])) {
      all--;
    }
    return all - first;
  }

  @Override
  public int level(T record) {
    int added = added(layout.values(record));
    return levels.stream().limit(added).max(Integer::compare).orElse(FeatureLevel.FIRST);
  }

  @Override
  public void write(Bytes out, T record) {
    Object[] values = layout.values(record);
    int added = added(values);
    if (added > 0) {
      out.i64(GROWN).u8(added);
    }
    layout.write(out, values, values.length - levels.size() + added);
  }

  @Override
  public T read(ByteReader in) {
    int added = 0;
    if (new ByteReader(in.rest()).i64() == GROWN) {
      in.i64();
      added = Codec.checkForm("a record", in.u8(), 1, levels.size());
    }
    Object[] values = usual.clone();
    return layout.read(in, values, values.length - levels.size() + added);
  }
}
