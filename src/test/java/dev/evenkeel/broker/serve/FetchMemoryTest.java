package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.Scarce;
import dev.evenkeel.bus.share.Shares;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Vertx;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class FetchMemoryTest {
  private static final Vertx VERTX = Vertx.vertx();
  private static final long MAX = 1 << 20;

  @AfterAll
  static void close() throws Exception {
    VERTX.close().toCompletionStage().toCompletableFuture().get();
  }

  private static FairShare share() {
    return Shares.of(VERTX).divide(Scarce.FETCH_BYTES, MAX);
  }

  private static MessageFilter filter(int conditions, String form) {
    return MessageFilter.of(
        IntStream.range(0, conditions).mapToObj(i -> form.formatted(i)).toList());
  }

  private static FetchRequest fetch(int shard, MessageFilter filter) {
    return FetchRequest.browse(new Shard(1, shard), 0, 1 << 20, 100, 15_000).with(filter);
  }

  /** On the wire, a condition such as "key=17" takes some ten bytes. */
  @Test
  void aFilterCountsWithWhatItTakesOnTheHeap() {
    assertThat(FetchMemory.filterBytes(filter(1_000, "key=%s"))).isBetween(80_000L, 120_000L);
    assertThat(FetchMemory.filterBytes(filter(1_000, "header:h%s=x")))
        .as("a field for each header")
        .isBetween(150_000L, 250_000L);
    assertThat(FetchMemory.indexBytes(filter(1_000, "key=%s"))).isBetween(60_000L, 120_000L);
    assertThat(FetchMemory.filterBytes(filter(2, "key=%s"))).isLessThan(1_000);
  }

  @Test
  void equalFiltersAreOneObjectAndCountOnceForAUser() {
    FairShare share = share();
    FetchMemory memory = new FetchMemory(share);
    MessageFilter one = memory.same(filter(500, "key=%s"));
    assertThat(memory.same(filter(500, "key=%s"))).isSameAs(one);
    assertThat(memory.same(filter(499, "key=%s"))).isNotSameAs(one);
    memory.take("a", List.of(fetch(0, one)));
    long first = share.held();
    memory.take("a", List.of(fetch(0, filter(500, "key=%s"))));
    assertThat(share.held() - first).isEqualTo(FetchMemory.FETCH_BYTES);
    memory.take("a", List.of(fetch(1, one)));
    assertThat(share.held() - first)
        .as("the index of another shard")
        .isEqualTo(2 * FetchMemory.FETCH_BYTES + FetchMemory.indexBytes(one));
    memory.take("b", List.of(fetch(0, one)));
    assertThat(share.of("b").held()).isEqualTo(first);
  }

  @Test
  void whoHasMuchWaitingGetsNoMoreAndAnotherUserDoes() {
    FairShare share = share();
    FetchMemory memory = new FetchMemory(share);
    int taken = 0;
    while (share.of("a").held() < MAX / 2 - 400_000) {
      memory.take("a", List.of(fetch(0, filter(900 - taken++, "key=%s"))));
    }
    long held = share.held();
    Refused.with(
        Refusal.OVERLOADED,
        () ->
            memory.take(
                "a",
                IntStream.range(0, 60).mapToObj(i -> fetch(i, filter(950, "key=%s"))).toList()),
        "the user 'a'",
        "bytes for fetches that wait");
    assertThat(share.held()).as("nothing of what was refused").isEqualTo(held);
    memory.take("b", List.of(fetch(0, filter(950, "key=%s"))));
    assertThat(share.of("b").held()).isPositive();
  }

  /** As it stands at the end of a request. */
  private static ByteBuffer written(MessageFilter filter) {
    ByteBuffer all = fetch(0, filter).encode().view();
    int before = fetch(0, null).encode().view().remaining();
    return all.slice(before, all.remaining() - before);
  }

  @Test
  void aFilterThatIsInUseIsNotReadAgain() {
    FetchMemory memory = new FetchMemory(share());
    MessageFilter one = memory.read("a", 1, written(filter(500, "key=%s")));
    assertThat(one).isEqualTo(filter(500, "key=%s"));
    assertThat(memory.read("b", 64, written(filter(500, "key=%s")))).isSameAs(one);
    assertThat(memory.read("a", 1, written(filter(499, "key=%s")))).isNotEqualTo(one);
    assertThat(memory.read("a", 1, written(MessageFilter.ALL))).isSameAs(MessageFilter.ALL);
  }

  @Test
  void aFilterForWhichThereIsNoRoomIsNotRead() {
    FairShare share = share();
    FetchMemory memory = new FetchMemory(share);
    MessageFilter held = memory.read("a", 1, written(filter(1_000, "key=%s")));
    share.of("a").take(MAX / 2);
    Refused.with(
        Refusal.OVERLOADED,
        () -> memory.read("a", 1, written(filter(1_000, "key=x%s"))),
        "the user 'a'",
        "bytes for fetches that wait");
    // Had it been read, it would be INVALID.
    Refused.with(
        Refusal.OVERLOADED,
        () ->
            memory.read("a", 1, new Bytes().i32(1_000).text("nonsense").raw(new byte[996]).view()));
    assertThat(memory.read("a", 1, written(held))).as("one that is held").isSameAs(held);
    assertThat(share.of("a").held()).isEqualTo(MAX / 2);
    assertThat(memory.read("b", 1, written(filter(1_000, "key=x%s")))).isNotNull();
    Refused.with(
        Refusal.INVALID,
        () -> memory.read("b", 1, new Bytes().i32(1_000).raw(new byte[1_000]).view()));
  }

  @Property(tries = 200)
  void whatWasTakenIsGivenBack(@ForAll long seed) {
    Random random = new Random(seed);
    FairShare share = share();
    FetchMemory memory = new FetchMemory(share);
    record Waiting(String user, FetchRequest fetch) {}
    List<Waiting> waiting = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      if (random.nextInt(3) > 0) {
        String user = random.nextInt(4) == 0 ? null : "u" + random.nextInt(3);
        MessageFilter filter =
            random.nextInt(3) == 0
                ? MessageFilter.ALL
                : memory.same(filter(1 + random.nextInt(3), "key=%s"));
        List<FetchRequest> fetches =
            random.ints(1 + random.nextInt(4), 0, 3).mapToObj(s -> fetch(s, filter)).toList();
        memory.take(user, fetches);
        fetches.forEach(each -> waiting.add(new Waiting(user, each)));
      } else if (!waiting.isEmpty()) {
        Waiting gone = waiting.remove(random.nextInt(waiting.size()));
        memory.give(gone.user, gone.fetch);
      }
      assertThat(share.held())
          .isGreaterThanOrEqualTo((long) FetchMemory.FETCH_BYTES * waiting.size());
    }
    waiting.forEach(each -> memory.give(each.user, each.fetch));
    assertThat(share.held()).isZero();
    assertThat(share.usage()).isEmpty();
    assertThat(memory.parts()).isZero();
  }
}
