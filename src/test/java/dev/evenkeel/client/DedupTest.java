package dev.evenkeel.client;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Claims of keys in one JVM, over sessions and as a member of the event bus. */
class DedupTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final AtomicInteger NAMES = new AtomicInteger();

  enum Way {
    LOCAL,
    SESSION,
    BUS
  }

  private final List<EvenkeelClient> clients = new ArrayList<>();
  private final Vertx vertx = Vertx.vertx();
  private EmbeddedNode node;
  private String name;

  @BeforeEach
  void open(EmbeddedNode started) {
    node = started;
    name = "dedup-" + NAMES.incrementAndGet();
  }

  @AfterEach
  void close() {
    clients.forEach(client -> await(client.close()));
    await(vertx.close());
  }

  private Dedup dedup(Way way) {
    return dedup(way, new DedupOptions().setName(name));
  }

  private Dedup dedup(Way way, DedupOptions options) {
    return way == Way.LOCAL ? Dedup.local(options) : client(way).dedup(options);
  }

  private EvenkeelClient client(Way way) {
    EvenkeelClient client =
        await(
            way == Way.SESSION
                ? Evenkeel.connect(vertx, node.clientOptions())
                : Evenkeel.with(node.vertx()));
    clients.add(client);
    return client;
  }

  private static CompletableFuture<Boolean> begin(Dedup dedup, String key) {
    return Daemon.call("asks for " + key, () -> dedup.enQueue(key));
  }

  private static boolean result(CompletableFuture<Boolean> begun) {
    return await(Future.fromCompletionStage(begun));
  }

  private static void awaitWaiting(Dedup dedup) {
    Wait.until("one waits", () -> dedup.counts().waiting() == 1);
  }

  @ParameterizedTest
  @EnumSource
  void oneWorksOneWaitsAndTheThirdIsDeclined(Way way) throws Exception {
    Dedup dedup = dedup(way);
    // Another program with this name; in one JVM there is none.
    Dedup other = way == Way.LOCAL ? dedup : dedup(way);
    assertThat(dedup.enQueue("k")).isTrue();
    CompletableFuture<Boolean> waits = begin(other, "k");
    awaitWaiting(other);
    assertThat(result(begin(dedup, "k"))).isFalse();
    assertThat(dedup.enQueue("another")).isTrue();
    assertThat(waits).isNotDone();
    assertThat(dedup.deQueue("k")).isTrue();
    assertThat(result(waits)).isTrue();
    assertThat(other.deQueue("k")).isTrue();
    assertThat(dedup.deQueue("another")).isTrue();
    assertThat(dedup.deQueue("k")).isFalse();
    assertThat(dedup.counts().declined()).isOne();
    assertThat(dedup.counts().working()).isZero();
    assertThat(dedup.counts().lost()).isZero();
    assertThat(dedup.enQueue("k")).isTrue();
    await(dedup.close());
  }

  @ParameterizedTest
  @EnumSource
  void claimsTellWhetherTheyAreHeld(Way way) {
    Dedup dedup = dedup(way);
    DedupClaim claim = await(dedup.claim("k")).orElseThrow();
    assertThat(claim.key()).isEqualTo("k");
    assertThat(claim.isHeld()).isTrue();
    Future<Optional<DedupClaim>> waits = dedup.claim("k");
    awaitWaiting(dedup);
    assertThat(await(dedup.claim("k"))).isEmpty();
    assertThat(await(claim.giveBack())).isTrue();
    assertThat(claim.isHeld()).isFalse();
    assertThat(await(claim.giveBack())).as("the same again").isTrue();
    DedupClaim next = await(waits).orElseThrow();
    assertThat(next.isHeld()).isTrue();
    assertThat(next.lost().isComplete()).isFalse();
    assertThat(await(next.giveBack())).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void aClaimThatWorksForTooLongIsTold(Way way) {
    Dedup dedup = dedup(way, new DedupOptions().setName(name).setTimeoutMillis(1_000));
    DedupClaim claim = await(dedup.claim("k")).orElseThrow();
    Future<Optional<DedupClaim>> waits = dedup.claim("k");
    await(claim.lost());
    assertThat(claim.isHeld()).isFalse();
    DedupClaim next = await(waits).orElseThrow();
    assertThat(await(claim.giveBack())).isFalse();
    assertThat(dedup.counts().lost()).isOne();
    assertThat(await(next.giveBack())).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void closingEndsWhatWaitsAndGivesBackWhatWorks(Way way) throws Exception {
    Dedup dedup = dedup(way);
    assertThat(dedup.enQueue("k")).isTrue();
    CompletableFuture<Boolean> waits = begin(dedup, "k");
    awaitWaiting(dedup);
    await(dedup.close());
    assertThatThrownBy(waits::get)
        .isInstanceOf(ExecutionException.class)
        .cause()
        .satisfies(failure -> Refused.is(Refusal.UNAVAILABLE, failure, "closed"));
    Refused.with(Refusal.UNAVAILABLE, () -> dedup.enQueue("k"), "closed");
    Refused.with(Refusal.UNAVAILABLE, () -> await(dedup.claim("k")), "closed");
    await(dedup.close());
    Dedup next = dedup(way);
    assertThat(result(begin(next, "k"))).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void whatCannotBeRightIsRefused(Way way) throws Exception {
    Dedup dedup = dedup(way, new DedupOptions().setName(name).setClaimsMax(2));
    Refused.with(Refusal.INVALID, () -> dedup.enQueue(""), "needs a key");
    Refused.with(Refusal.INVALID, () -> dedup.enQueue(null), "needs a key");
    Refused.with(
        Refusal.INVALID, () -> dedup.enQueue("ä".repeat(513)), "1026 bytes", "at most 1024");
    assertThat(dedup.enQueue("k")).isTrue();
    assertThatThrownBy(() -> dedup.enQueue("k"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("wait for itself");
    assertThat(dedup.enQueue("l")).isTrue();
    Refused.with(Refusal.OVERLOADED, () -> dedup.enQueue("m"), "2 claims in hand");
    dedup.deQueue("k");
    assertThat(dedup.enQueue("m")).isTrue();
    Refused.with(
        Refusal.INVALID, () -> dedup(way, new DedupOptions().setName("a/b")), "bad dedup name");
    Refused.with(
        Refusal.INVALID, () -> dedup(way, new DedupOptions().setName(name).setTimeoutMillis(1)));
    Promise<Throwable> onLoop = Promise.promise();
    vertx.runOnContext(
        none -> {
          try {
            dedup.enQueue("n");
            onLoop.fail("it went on");
          } catch (Exception e) {
            onLoop.complete(e);
          }
        });
    assertThat(await(onLoop.future()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("event loop");
  }

  @ParameterizedTest
  @EnumSource
  void aThreadThatIsInterruptedHasNoClaim(Way way) throws Exception {
    Dedup dedup = dedup(way);
    assertThat(dedup.enQueue("k")).isTrue();
    CompletableFuture<Throwable> end = new CompletableFuture<>();
    Thread waits =
        Daemon.start(
            "waits",
            () -> {
              try {
                dedup.enQueue("k");
                end.complete(null);
              } catch (Exception e) {
                end.complete(e);
              }
            });
    awaitWaiting(dedup);
    waits.interrupt();
    assertThat(await(Future.fromCompletionStage(end))).isInstanceOf(InterruptedException.class);
    Future<Optional<DedupClaim>> next = dedup.claim("k");
    Wait.until(() -> dedup.counts().blocked() == 2);
    dedup.deQueue("k");
    assertThat(await(next)).isPresent();
  }

  @Test
  void ofTwoClaimsOfAKeyAThreadGivesBackItsOwn() throws Exception {
    Dedup dedup = dedup(Way.SESSION, new DedupOptions().setName(name).setTimeoutMillis(1_000));
    assertThat(dedup.enQueue("k")).isTrue();
    // It takes over once this thread's time is over.
    CompletableFuture<Boolean> next = begin(dedup, "k");
    assertThat(result(next)).isTrue();
    assertThat(dedup.deQueue("k")).as("this thread's").isFalse();
    assertThat(dedup.counts().working()).isOne();
    assertThat(dedup.deQueue("k")).as("the other's").isTrue();
  }

  @Test
  void itNeedsANameInACluster() {
    EvenkeelClient client = client(Way.SESSION);
    Refused.with(Refusal.INVALID, () -> client.dedup((String) null), "needs a name");
    await(client.close());
    Refused.with(Refusal.UNAVAILABLE, () -> client.dedup(name), "closed");
  }

  @Test
  void withItsVertxAnyCallEnds() throws Exception {
    Dedup dedup = dedup(Way.SESSION);
    assertThat(dedup.enQueue("k")).isTrue();
    CompletableFuture<Boolean> waits = begin(dedup, "k");
    awaitWaiting(dedup);
    Future<Optional<DedupClaim>> asks = dedup.claim("l");
    await(vertx.close());
    assertThatThrownBy(waits::get)
        .cause()
        .satisfies(failure -> Refused.is(Refusal.UNAVAILABLE, failure));
    Wait.until(asks::isComplete);
    Refused.with(Refusal.UNAVAILABLE, () -> dedup.enQueue("m"));
    assertThat(dedup.deQueue("k")).isFalse();
  }

  @Test
  void namesHaveKeysOfTheirOwn() throws Exception {
    EvenkeelClient client = client(Way.SESSION);
    Dedup one = client.dedup(name);
    Dedup two = client.dedup(name + "-2");
    assertThat(one.enQueue("k")).isTrue();
    assertThat(two.enQueue("k")).isTrue();
    assertThat(one.name()).isEqualTo(name);
  }

  @Test
  void whenTheNodeGoesClaimsAreLostAndNewOnesFailUntilItIsBack() throws Exception {
    Dedup dedup = dedup(Way.SESSION);
    DedupClaim claim = await(dedup.claim("k")).orElseThrow();
    node.restart();
    await(claim.lost());
    assertThat(claim.isHeld()).isFalse();
    claim.giveBack();
    Wait.until(
        "the node is back",
        () -> {
          try {
            return dedup.enQueue("k");
          } catch (RefusedException e) {
            assertThat(e.refusal()).isEqualTo(Refusal.UNAVAILABLE);
            return false;
          }
        });
  }
}
