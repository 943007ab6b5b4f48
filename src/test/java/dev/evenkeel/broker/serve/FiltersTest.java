package dev.evenkeel.broker.serve;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.ShardRecord;
import dev.evenkeel.broker.state.TailCache.Cached;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.BatchWalk;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FiltersTest {
  private static final FetchFrame FRAMES = FetchFrame.placed(3);
  private static final String[] NAMES = {"region", "kind", "x"};

  private static String word(Random random) {
    return random.nextInt(4) == 0 ? "" : "ab".substring(random.nextInt(2), 2) + random.nextInt(6);
  }

  private static Message message(Random random) {
    Message.Builder builder =
        Message.builder(new byte[random.nextInt(60)]).timestampMillis(1_000 + random.nextInt(100));
    if (random.nextInt(5) > 0) {
      builder.key(word(random));
    }
    for (String name : NAMES) {
      if (random.nextInt(3) == 0) {
        builder.header(name, word(random));
      }
    }
    return builder.build();
  }

  private static MessageFilter filter(Random random) {
    List<String> texts = new ArrayList<>();
    for (int i = random.nextInt(4); i >= 0; i--) {
      String field = random.nextInt(2) == 0 ? "key" : "header:" + NAMES[random.nextInt(3)];
      texts.add(field + (random.nextInt(3) == 0 ? "^=" : "=") + word(random));
    }
    return MessageFilter.of(new LinkedHashSet<>(texts));
  }

  /** Batches of a shard from offset 10 on. */
  private static List<Cached> batches(Random random, List<Message> messages) {
    List<Cached> batches = new ArrayList<>();
    for (int i = random.nextInt(6); i >= 0; i--) {
      BatchPacker packer =
          BatchPacker.of(random.nextInt(3) == 0 ? Compression.LZ4 : Compression.NONE);
      BatchBuilder builder = new BatchBuilder(64, packer);
      long base = 10 + messages.size();
      for (int m = random.nextInt(20); m >= 0; m--) {
        messages.add(message(random));
        builder.add(messages.get(messages.size() - 1));
      }
      Batch batch = builder.build(7, 1, base);
      boolean readOnly = random.nextBoolean();
      batches.add(
          new Cached(
              base, readOnly ? new Batch(batch.bytes().asReadOnlyBuffer()) : batch, 100 + i));
    }
    return batches;
  }

  private static FetchRequest request(
      MessageFilter filter, long offset, int bytesMax, int messagesMax) {
    return FetchRequest.browse(new Shard(1, 0), offset, bytesMax, messagesMax, 0).with(filter);
  }

  private record Got(long offset, String message) {}

  private static String text(Message message) {
    StringBuilder text = new StringBuilder(message.keyText() + "@" + message.timestampMillis());
    message.headers().forEach((name, value) -> text.append(name).append(new String(value)));
    return text.append(Arrays.toString(message.payload())).toString();
  }

  /** What a client gets and wants. */
  private static List<Got> wanted(FetchAnswer answer, MessageFilter filter) {
    List<Got> got = new ArrayList<>();
    for (FetchAnswer.Placed placed : answer.batches()) {
      assertThat(placed.log().index()).isGreaterThanOrEqualTo(100);
      BatchReader reader = placed.verified().reader(placed.baseOffset());
      while (reader.hasNext()) {
        long offset = reader.nextOffset();
        Message message = reader.next();
        if (filter.matches(message)) {
          got.add(new Got(offset, text(message)));
        }
      }
    }
    return got;
  }

  @Property(tries = 500)
  void whatIsWantedComesInItsOrder(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 3_000) int bytesMax) {
    Random random = new Random(seed);
    List<Message> messages = new ArrayList<>();
    List<Cached> batches = batches(random, messages);
    MessageFilter filter = filter(random);
    int messagesMax = 1 + random.nextInt(100);
    List<Got> got = new ArrayList<>();
    long end = 10 + messages.size();
    long from = 10;
    while (from < end) {
      long first = from;
      List<Cached> left = batches.stream().filter(each -> each.endOffset() > first).toList();
      var found = FilteredBatches.of(left, FRAMES, request(filter, from, bytesMax, messagesMax));
      assertThat(found.next()).isGreaterThan(from);
      if (found.frame() != null) {
        ShardRecord record = new ShardRecord(3, end, 0, 0, 0, 0, 0, false);
        FetchAnswer answer =
            FetchAnswer.decode(
                Frames.answerBody(FRAMES.filled(record, 4, found.next(), found.frame())), true);
        assertThat(answer.next()).isEqualTo(found.next());
        assertThat(answer.batches().stream().mapToInt(each -> each.batch().count()).sum())
            .isEqualTo((int) found.messages());
        got.addAll(wanted(answer, filter));
      }
      from = found.next();
    }
    List<Got> expected = new ArrayList<>();
    for (int i = 0; i < messages.size(); i++) {
      if (filter.matches(messages.get(i))) {
        expected.add(new Got(10 + i, text(messages.get(i))));
      }
    }
    assertThat(got).isEqualTo(expected);
  }

  /** A look may end within a batch that is smaller as a whole than the messages wanted of it. */
  @Test
  void behindABatchThatIsLeftWholeNothingIsLookedAtAgain() {
    BatchBuilder builder = new BatchBuilder(64, BatchPacker.of(Compression.LZ4));
    times(100, i -> builder.add(Message.of("k", 5, new byte[100])));
    Cached batch = new Cached(10, builder.build(1, 0, 0), 1);
    FilteredBatches some =
        new FilteredBatches(FRAMES, request(MessageFilter.of("key=k"), 10, 1 << 20, 999));
    BatchWalk walk = FilteredBatches.walk(batch.batch());
    times(
        50,
        i -> {
          assertThat(walk.overOne()).isTrue();
          some.add(batch, walk, i);
        });
    var found = some.end(60);
    assertThat(found.messages()).isEqualTo(100);
    assertThat(found.next()).isEqualTo(110);
  }

  @Test
  void fewMessagesOfManyCostFewBytes() {
    BatchBuilder builder = new BatchBuilder(64);
    times(1_000, i -> builder.add(Message.of("k" + i, 5, new byte[100])));
    List<Cached> batches = List.of(new Cached(0, builder.build(1, 0, 0), 1));
    MessageFilter three = MessageFilter.of("key=k7", "key=k8", "key=k500");
    var found = FilteredBatches.of(batches, FRAMES, request(three, 0, 1 << 20, 99));
    assertThat(found.messages()).isEqualTo(3);
    assertThat(found.bytes()).isLessThan(600);
    FetchRequest other = request(MessageFilter.of("key=other"), 0, 1 << 20, 99);
    assertThat(FilteredBatches.of(batches, FRAMES, other).frame()).isNull();
  }

  /** Whatever was added and removed before, the index finds what each filter says. */
  @Property(tries = 300)
  void theIndexFindsEveryFilterThatTakesAMessage(@ForAll long seed) {
    Random random = new Random(seed);
    FilterIndex<Integer> index = new FilterIndex<>();
    List<MessageFilter> filters = new ArrayList<>();
    Set<Integer> there = new LinkedHashSet<>();
    for (int i = 0; i < 40; i++) {
      filters.add(filter(random));
      index.add(i, filters.get(i));
      there.add(i);
      if (random.nextInt(3) == 0) {
        int gone = random.nextInt(i + 1);
        index.remove(gone, filters.get(gone));
        there.remove(gone);
      }
    }
    List<Message> messages = new ArrayList<>();
    int at = 0;
    for (Cached each : batches(random, messages)) {
      BatchWalk walk = each.batch().walk();
      for (int i = 0; i < each.batch().count(); i++) {
        assertThat(walk.overOne()).isTrue();
        Set<Integer> found = new LinkedHashSet<>();
        index.match(walk, found);
        Message message = messages.get(at++);
        assertThat(found)
            .containsExactlyInAnyOrderElementsOf(
                there.stream().filter(one -> filters.get(one).matches(message)).toList());
      }
    }
  }
}
