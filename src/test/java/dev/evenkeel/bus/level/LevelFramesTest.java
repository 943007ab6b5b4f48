package dev.evenkeel.bus.level;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.StringLength;

class LevelFramesTest {
  @Property(tries = 200)
  void whatIsSentIsWhatIsRead(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long number,
      @ForAll @IntRange(min = 0, max = 50) int count,
      @ForAll boolean flag,
      @ForAll @StringLength(max = 20) String text) {
    SessionStart collect = new SessionStart(text, number, number + 1, "n1", flag, number);
    assertThat(SessionStart.decode(collect.encode().view())).isEqualTo(collect);

    List<MessageId> ids =
        java.util.stream.IntStream.range(0, count)
            .mapToObj(i -> new MessageId(new Shard(i, i * 7), number + i, number))
            .toList();
    SessionState place = new SessionState(flag ? new byte[] {1, 2} : null, number, ids, ids, 7);
    assertThat(SessionState.decode(place.encode().view()))
        .usingRecursiveComparison()
        .isEqualTo(place);

    long[] above = new long[count];
    times(count, i -> above[i] = number + 2L * i);
    Report report =
        new Report(
            "g", text, 1, 2, 3, number, number, above, List.of(new Report.Failed(4, text)), 9);
    assertThat(Report.decode(report.encode().view())).usingRecursiveComparison().isEqualTo(report);

    StartPermission permission = new StartPermission(number, count);
    assertThat(StartPermission.decode(permission.encode().view())).isEqualTo(permission);
  }

  @Property(tries = 200)
  void dealtMessagesAreReadAsTheyWere(
      @ForAll @LongRange(min = 0, max = Long.MAX_VALUE / 2) long offset,
      @ForAll byte[] payload,
      @ForAll boolean keyed,
      @ForAll @StringLength(max = 20) String text) {
    Message message =
        new Message(
            keyed ? payload : null,
            keyed ? Map.of("name", payload) : Map.of(),
            1_700_000_000_000L,
            payload);
    var entry = new HandOut.Entry(new MessageId(new Shard(4, 1), offset, 9), 3, 2, message);
    HandOut deal = deal(offset, keyed ? payload : null, text, List.of(entry));
    assertThat(HandOut.decode(deal.encode().view())).usingRecursiveComparison().isEqualTo(deal);
    HandOut empty = deal(offset, keyed ? payload : null, text, List.of());
    assertThat(deal.encode().view().remaining() - empty.encode().view().remaining())
        .as("what limits how many messages are sent at a time")
        .isLessThanOrEqualTo(entry.bytes());
  }

  private static HandOut deal(
      long offset, byte[] checkpoint, String text, List<HandOut.Entry> messages) {
    return new HandOut(
        1, 2, offset, checkpoint, Map.of(4, text), Map.of(new Shard(4, 1), offset), messages);
  }
}
