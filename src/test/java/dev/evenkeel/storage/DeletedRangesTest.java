package dev.evenkeel.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.storage.Store.Table;
import org.junit.jupiter.api.Test;

class DeletedRangesTest {
  private final DeletedRanges ranges = new DeletedRanges();

  @Test
  void joinsRangesThatGoOnWhereAnotherEnds() {
    ranges.add(range(Table.INDEX, 1, 5));
    ranges.add(range(Table.LEASES, 5, 6));
    ranges.add(range(Table.INDEX, 5, 9));
    ranges.add(range(Table.INDEX, 1, 7));
    ranges.add(range(Table.INDEX, 20, 30));
    assertThat(ranges.take())
        .extracting(r -> r.table() + " " + r.from()[0] + "-" + r.to()[0])
        .containsExactly("INDEX 1-9", "LEASES 5-6", "INDEX 20-30");
    assertThat(ranges.take()).isEmpty();
  }

  @Test
  void keepsABoundedNumber() {
    for (int i = 0; i < DeletedRanges.RANGES_MAX + 10; i++) {
      byte[] from = {(byte) (i >> 8), (byte) i, 0};
      byte[] to = {(byte) (i >> 8), (byte) i, 1};
      ranges.add(new DeletedRange(Table.META, from, to));
    }
    assertThat(ranges.take()).hasSize(DeletedRanges.RANGES_MAX);
  }

  private static DeletedRange range(Table table, int from, int to) {
    return new DeletedRange(table, new byte[] {(byte) from}, new byte[] {(byte) to});
  }
}
