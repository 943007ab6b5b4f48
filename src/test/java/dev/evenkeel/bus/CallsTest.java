package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Every operation of a broker at its control address has a row. */
public class CallsTest {
  /** Asked for each message or batch, with forms of their own, or not asked of a broker. */
  private static final EnumSet<Op> WITHOUT_ROWS =
      EnumSet.of(
          Op.APPEND,
          Op.FETCH,
          Op.FETCH_MANY,
          Op.BROWSE,
          Op.AWAIT_REPLICAS,
          Op.MOVE_DELAYED,
          Op.LEVEL_START,
          Op.LEVEL_HAND_OUT,
          Op.LEVEL_REPORT);

  /** The operations of all rows. */
  public static List<Op> withRows() throws IllegalAccessException {
    List<Op> all = new ArrayList<>();
    for (Field field : Calls.class.getFields()) {
      if (field.getType() == Call.class) {
        all.add(((Call<?, ?>) field.get(null)).op());
      }
    }
    return all;
  }

  @Test
  void everyOperationAtTheControlAddressHasOneRow() throws Exception {
    assertThat(withRows())
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(EnumSet.complementOf(WITHOUT_ROWS));
  }
}
