package dev.evenkeel.client.internal.member;

import static dev.evenkeel.Futures.await;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.Assignment;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.DeliveryPolicy;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Consumers whose messages go to an address of a plain Vert.x. */
class AddressHandlerTest extends MemberBench {
  private static final String ADDRESS = "billing.handle";

  private final List<io.vertx.core.eventbus.Message<Buffer>> got = new CopyOnWriteArrayList<>();

  AddressHandlerTest() {
    super(1);
  }

  @Override
  ConsumerOptions options() {
    return super.options().setRetryDelaysMillis(List.of(0L, 0L));
  }

  private static AddressOptions address(Object... more) {
    JsonObject json = new JsonObject().put("address", ADDRESS);
    for (int i = 0; i < more.length; i += 2) {
      json.put((String) more[i], more[i + 1]);
    }
    return AddressOptions.takeFrom(json);
  }

  private Consumer consumer(ConsumerOptions options, Object... more) {
    return start(options, address(more).handler(vertx, options));
  }

  /** Listens at the address, and keeps what comes there. */
  private MessageConsumer<Buffer> listen(java.util.function.Consumer<Integer> then) {
    return vertx
        .eventBus()
        .consumer(
            ADDRESS,
            message -> {
              got.add(message);
              then.accept(got.size() - 1);
            });
  }

  private void reply(int index) {
    got.get(index).reply(null);
  }

  private List<String> header(String name) {
    return got.stream().map(each -> each.headers().get(name)).toList();
  }

  private List<Integer> numbers() {
    return got.stream().map(each -> Integer.parseInt(each.body().toString())).toList();
  }

  private void committed(long offset) {
    Wait.until(() -> cluster.lease(0).committed() == offset);
  }

  @Test
  void aReplyFinishesAMessageAndTheNextOfItsShardComes() {
    listen(index -> {});
    Consumer consumer = consumer(options());
    grant(0, 0, 3);
    for (int i = 0; i < 3; i++) {
      int count = i + 1;
      Wait.until(() -> got.size() == count);
      reply(i);
      // Nobody hears a second one.
      reply(i);
    }
    committed(3);
    assertThat(numbers()).containsExactly(0, 1, 2);
    assertThat(header("evenkeel-attempt")).containsExactly("1", "1", "1");
    await(consumer.close());
  }

  @Test
  void tellsWhatIsKnownOfAMessage() {
    Map<String, byte[]> headers = new LinkedHashMap<>();
    headers.put("region", "eu".getBytes(UTF_8));
    headers.put("key", new byte[] {(byte) 0xfd});
    headers.put("raw", new byte[] {(byte) 0xff});
    headers.put("Evenkeel-epoch", "99".getBytes(UTF_8));
    headers.put("odd name\n", "\u00e4\n".getBytes(UTF_8));
    byte[] payload = {0, (byte) 0xfe, 7};
    cluster.append(0, List.of(new Message("k1".getBytes(UTF_8), headers, 4_711, payload)));
    cluster.append(0, List.of(new Message(new byte[] {(byte) 0xfe}, Map.of(), 5, new byte[0])));
    listen(this::reply);
    Consumer consumer = consumer(options());
    cluster.grant(0, null, -1);
    committed(2);
    assertThat(got.get(0).body().getBytes()).isEqualTo(payload);
    Map<String, String> known = new LinkedHashMap<>();
    got.get(0).headers().forEach(known::put);
    Map<String, String> right = new LinkedHashMap<>();
    right.put("region", "eu");
    right.put("evenkeel-base64-key", "/Q==");
    right.put("evenkeel-base64-raw", "/w==");
    right.put("evenkeel-Evenkeel-epoch", "99");
    right.put("odd name\n", "\u00e4\n");
    right.put("evenkeel-key", "k1");
    right.put("evenkeel-topic", "t");
    right.put("evenkeel-shard", "0");
    right.put("evenkeel-offset", "0");
    right.put("evenkeel-attempt", "1");
    right.put("evenkeel-epoch", "1");
    right.put("evenkeel-group", "g");
    right.put("evenkeel-member", "m");
    right.put("evenkeel-timestamp", "4711");
    assertThat(known).isEqualTo(right);
    assertThat(got.get(1).body().length()).isZero();
    assertThat(got.get(1).headers().get("evenkeel-key")).isNull();
    assertThat(got.get(1).headers().get("evenkeel-key-base64")).isEqualTo("/g==");
    await(consumer.close());
  }

  @Test
  void aLeaderTellsItsTerm() {
    listen(this::reply);
    Consumer consumer = consumer(options().setMode(Mode.SINGLETON));
    cluster.lead(new Assignment.Lead(7, true, false));
    grant(0, 0, 2);
    committed(2);
    assertThat(header("evenkeel-term")).containsExactly("7", "7");
    await(consumer.close());
  }

  /** What a receiver does to the body of its attempt is gone with that attempt. */
  @Test
  void aFailureIsAnAttemptAndTheNextOneBringsTheSamePayload() {
    listen(
        index -> {
          if (index == 0) {
            got.get(index).body().setByte(0, (byte) '9');
            got.get(index).fail(3, "no such customer");
          } else {
            reply(index);
          }
        });
    Consumer consumer = consumer(options());
    grant(0, 0, 2);
    committed(2);
    assertThat(header("evenkeel-offset")).containsExactly("0", "0", "1");
    assertThat(header("evenkeel-attempt")).containsExactly("1", "2", "1");
    assertThat(got.get(1).body().toString()).isEqualTo("0");
    assertThat(errors()).containsExactly("'billing.handle' failed: no such customer");
    await(consumer.close());
  }

  private List<String> errors() {
    List<String> errors = new ArrayList<>();
    cluster.commands().stream()
        .filter(DataCommand.RecordOutcomes.class::isInstance)
        .map(DataCommand.RecordOutcomes.class::cast)
        .flatMap(each -> each.outcomes().stream())
        .filter(Outcome.Failed.class::isInstance)
        .forEach(each -> errors.add(((Outcome.Failed) each).error()));
    return errors;
  }

  @Test
  void noReplyInTimeIsAFailedAttempt() {
    listen(
        index -> {
          if (index > 0) {
            reply(index);
          }
        });
    Consumer consumer = consumer(options(), "addressTimeoutMillis", 100);
    grant(0, 0, 1);
    committed(1);
    reply(0);
    assertThat(header("evenkeel-attempt")).containsExactly("1", "2");
    assertThat(errors()).containsExactly("no reply from 'billing.handle' within 100ms");
    await(consumer.close());
  }

  /** Vert.x sends no reply then. */
  @Test
  void aReceiverThatThrowsIsSilent() {
    listen(
        index -> {
          if (index == 0) {
            throw new IllegalStateException("broken");
          }
          reply(index);
        });
    Consumer consumer = consumer(options(), "addressTimeoutMillis", 100);
    grant(0, 0, 1);
    committed(1);
    assertThat(header("evenkeel-attempt")).containsExactly("1", "2");
    assertThat(errors()).containsExactly("no reply from 'billing.handle' within 100ms");
    await(consumer.close());
  }

  @Test
  void withoutAListenerMessagesWaitAndNoAttemptCounts() {
    Consumer consumer = consumer(options());
    grant(0, 0, 3);
    Wait.until(() -> consumer.ownedShards() == 1);
    MessageConsumer<Buffer> first = listen(this::reply);
    committed(3);
    await(first.unregister());
    cluster.append(0, messages(3, 2));
    Wait.until(() -> cluster.heartbeats().size() > 3);
    listen(this::reply);
    committed(5);
    assertThat(numbers()).containsExactly(0, 1, 2, 3, 4);
    assertThat(header("evenkeel-attempt")).containsOnly("1");
    assertThat(errors()).isEmpty();
    await(consumer.close());
  }

  /** As when a verticle that is busy is deployed anew. */
  @Test
  void aMessageThatWaitsForAHandlerThatIsUnregisteredIsNoAttempt() {
    AtomicInteger delivered = new AtomicInteger();
    vertx
        .eventBus()
        .addOutboundInterceptor(
            sent -> {
              sent.next();
              if (sent.message().address().equals(ADDRESS)) {
                delivered.incrementAndGet();
              }
            });
    MessageConsumer<Buffer> first = listen(this::reply).pause();
    Consumer consumer = consumer(options());
    grant(0, 0, 2);
    Wait.until("one waits for the handler", () -> delivered.get() == 1);
    await(first.unregister());
    listen(this::reply);
    committed(2);
    assertThat(numbers()).containsExactly(0, 1);
    assertThat(header("evenkeel-attempt")).containsOnly("1");
    assertThat(errors()).isEmpty();
    await(consumer.close());
  }

  @Test
  void withAtMostOnceMessagesWithoutAListenerWaitToo() {
    Consumer consumer =
        consumer(options().setRetryDelaysMillis(null).setDelivery(DeliveryPolicy.AT_MOST_ONCE));
    grant(0, 0, 3);
    committed(3);
    listen(this::reply);
    Wait.until(() -> got.size() == 3);
    assertThat(numbers()).containsExactly(0, 1, 2);
    await(consumer.close());
  }

  /**
   * A node that stops must not wait for a listener, though nobody else handles what is committed.
   */
  @Test
  void aCloseDoesNotWaitForAListenerWithAtMostOnce() {
    ConsumerOptions options =
        options().setRetryDelaysMillis(null).setDelivery(DeliveryPolicy.AT_MOST_ONCE);
    AddressHandler handler = address().handler(vertx, options);
    Consumer consumer = start(options, handler);
    grant(0, 0, 3);
    committed(3);
    Future<Void> closed = handler.close(consumer, 100);
    await(closed.timeout(options.getLockTimeMillis() / 2, TimeUnit.MILLISECONDS));
    assertThat(got).isEmpty();
  }

  @Test
  void theTimeForAReplyFitsTheLockTimeAndTheStallTimeout() {
    assertThat(address().timeoutMillis(options())).isEqualTo(30_000);
    assertThat(address().timeoutMillis(options().setLockTimeMillis(10_000))).isEqualTo(10_000);
    assertThat(address().timeoutMillis(options().setLockTimeMillis(0))).isEqualTo(30_000);
    ConsumerOptions level = options().setMode(Mode.LEVEL).setStallTimeoutMillis(5_000L);
    assertThat(address().timeoutMillis(level)).isEqualTo(4_000);
    assertThat(address("addressTimeoutMillis", 7_000).timeoutMillis(level)).isEqualTo(7_000);
  }

  @Test
  void saysWhatIsWrong() {
    refused(options(), "at least 100", "addressTimeoutMillis", 99);
    refused(
        options(), "at most 50000 is allowed, because a handover", "addressTimeoutMillis", 50_001);
    refused(options().setWorker(true), "worker is set");
    refused(options(), "0 characters", "address", " ");
    refused(options(), "1001 characters", "address", "x".repeat(1_001));
    for (String reserved : List.of("evenkeel", "evenkeel.api.topics", "__vertx.reply.1")) {
      refused(options(), "is reserved", "address", reserved);
    }
    address("address", "evenkeels").check(options());
    Refused.with(
        Refusal.INVALID,
        () -> AddressOptions.takeFrom(new JsonObject().put("addressTimeoutMillis", 500)));
    assertThat(AddressOptions.takeFrom(new JsonObject().put("group", "g"))).isNull();
  }

  private void refused(ConsumerOptions options, String text, Object... more) {
    Refused.saying(() -> address(more).handler(vertx, options), text);
  }
}
