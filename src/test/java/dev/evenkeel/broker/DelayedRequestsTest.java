package dev.evenkeel.broker;

import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refused;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Requests for delayed messages, to the leader of their shard. */
class DelayedRequestsTest {
  @Closing private Bench bench;
  private Shard shard;
  private String leader = "n1";

  @BeforeEach
  void begin() throws Exception {
    bench = new Bench(1 << 20, new JsonObject(), 1, "n1", "n2");
    shard = new Shard(bench.create("later", 1).id(), 0);
    await().until(() -> bench.nodes.get("n1").data().get(0).level() == FeatureLevel.NEWEST);
  }

  private DelayedId send(Batch batch, long delay) throws Exception {
    long due = bench.now.get() + delay;
    Bytes body = new Bytes();
    AppendBody.write(body, new AppendBody.Item(shard, batch, due));
    AppendResults results =
        AppendResults.decode(
            get(bench.send(Addresses.data(leader), Frames.request(Op.APPEND, body))));
    long value = results.results().get(0).value();
    return new DelayedId(shard.shard(), due, AppendResults.Result.serial(value), 0);
  }

  private static DelayedId at(DelayedId id, int position) {
    return new DelayedId(id.shard(), id.dueMillis(), id.serial(), position);
  }

  private Bytes question(DelayedId id) {
    Bytes body = new Bytes();
    RecordCodec.write(body, shard);
    return body.i64(id.dueMillis()).i64(id.serial()).i32(id.position());
  }

  private Future<Reply> cancel(DelayedId id) {
    return bench
        .send(Addresses.control(leader), Frames.request(Op.CANCEL_DELAYED, question(id)))
        .map(ReplyCodec::decode);
  }

  private DelayedAnswer list(DelayedId from, String key, int max) throws Exception {
    Bytes body = question(from).blob(key == null ? null : key.getBytes(UTF_8)).i32(max);
    return DelayedAnswer.CODEC.decodeAll(
        get(bench.send(Addresses.control(leader), Frames.request(Op.READ_DELAYED, body))));
  }

  private List<String> payloads() throws Exception {
    return payloads(list(DelayedId.first(0), null, 100));
  }

  private static List<String> payloads(DelayedAnswer answer) {
    return answer.messages().stream().map(each -> each.message().payloadText()).toList();
  }

  private static boolean unknown(Reply reply) {
    return reply instanceof Reply.Refused refused && refused.refusal() == Refusal.UNKNOWN_MESSAGE;
  }

  /** Each batch is some hundred bytes that unpack to as many messages as a batch can have. */
  @Test
  void aSearchOfBatchesThatUnpackToMuchEndsEarlyAndSaysWhereToGoOn() throws Exception {
    for (int i = 0; i < 40; i++) {
      send(Bombs.ofMessages(0, 0), 10_000 + i);
    }
    int answers = 0;
    for (DelayedId next = DelayedId.first(0); next != null; answers++) {
      DelayedAnswer answer = list(next, "none", 100);
      assertThat(answer.messages()).isEmpty();
      assertThat(answer.next() == null || answer.next().compareTo(next) > 0).isTrue();
      next = answer.next();
    }
    assertThat(answers).as("16 looks each").isEqualTo(3);
    DelayedAnswer page = list(DelayedId.first(0), null, 1_000);
    assertThat(page.messages()).hasSize(1_000);
  }

  @Test
  void oneIsLeftOfABatchWhoseOthersAreCancelledAtOnceAndAnotherLeaderDeliversIt() throws Exception {
    DelayedId id = send(Rig.batch(7, 0, 0, 20), 10_000);
    List<Future<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      if (i % 20 != 7) {
        replies.add(cancel(at(id, i % 20)));
      }
    }
    for (int i = 0; i < 38; i++) {
      Reply reply = get(replies.get(i));
      assertThat(i < 19 ? reply.equals(Reply.DONE) : unknown(reply))
          .as("%s: %s", i, reply)
          .isTrue();
    }
    assertThat(payloads()).containsExactly("7/0/7");
    assertThat(bench.registry.scrape()).contains("evenkeel_delay_cancelled_messages_total 19.0");

    bench.cluster.group("d0").lead("n2", true);
    leader = "n2";
    await().until(() -> bench.nodes.get("n2").log().data().get(0).leadership().ready());
    assertThat(payloads()).containsExactly("7/0/7");
    assertThat(unknown(get(cancel(at(id, 3))))).isTrue();
    bench.now.addAndGet(10_000);
    FetchRequest request = FetchRequest.browse(shard, 0, 1 << 20, 100, 10_000);
    FetchAnswer fetched =
        FetchAnswer.decode(
            get(bench.send(Addresses.data("n2"), Frames.request(Op.BROWSE, request.encode()))));
    BatchReader reader = fetched.batches().get(0).batch().verified().reader(0);
    assertThat(reader.next().payloadText()).isEqualTo("7/0/7");
    assertThat(reader.hasNext()).isFalse();
    assertThat(unknown(get(cancel(at(id, 7))))).as("it was delivered").isTrue();
  }

  @Test
  void pagesAndKeys() throws Exception {
    BatchBuilder builder = new BatchBuilder(256, BatchPacker.of(Compression.ZSTD));
    for (int i = 0; i < 6; i++) {
      String text = i + "x".repeat(100);
      builder.add(Message.builder(text).key(i % 2 == 0 ? "even" : "odd").build());
    }
    DelayedId late = send(builder.build(0, 0, 0), 2_000);
    DelayedId early = send(Rig.batch(0, 0, 0, 1), 1_000);
    get(cancel(at(late, 2)));
    DelayedAnswer page = list(DelayedId.first(0), null, 3);
    assertThat(page.messages())
        .extracting(DelayedAnswer.DelayedCopy::id)
        .containsExactly(early, at(late, 0), at(late, 1));
    assertThat(page.next()).isEqualTo(at(late, 3));
    page = list(page.next(), null, 3);
    assertThat(page.messages())
        .extracting(DelayedAnswer.DelayedCopy::id)
        .containsExactly(at(late, 3), at(late, 4), at(late, 5));
    assertThat(page.next()).isNull();
    page = list(DelayedId.first(0), "even", 10);
    assertThat(page.messages())
        .extracting(DelayedAnswer.DelayedCopy::id)
        .containsExactly(at(late, 0), at(late, 4));
    assertThat(list(DelayedId.first(late.dueMillis() + 1), null, 10).messages()).isEmpty();
  }

  @Test
  void afterAReshardTheMessagesHaveIdsInTheirNewShards() throws Exception {
    DelayedId id = send(Rig.batch(7, 0, 0, 3), 60_000);
    get(cancel(at(id, 1)));
    Shard former = shard;
    bench.control(Op.RESHARD_TOPIC, new Bytes().text("later").i32(2));
    Reply reply = get(cancel(at(id, 0)));
    assertThat(unknown(reply)).isTrue();
    assertThat(((Reply.Refused) reply).detail()).contains("list them again");
    // The last batch of the shard goes to the second of the new ones.
    shard = new Shard(shard.topicId(), 2);
    await().until(() -> payloads().size() == 2);
    assertThat(payloads()).containsExactly("7/0/0", "7/0/2");
    DelayedId next = list(DelayedId.first(0), null, 1).messages().get(0).id();
    assertThat(get(cancel(next))).isEqualTo(Reply.DONE);
    assertThat(payloads()).containsExactly("7/0/2");
    await().until(() -> bench.nodes.get("n1").data().get(0).tables().delays().of(former).isEmpty());
  }

  private DelayedId moved(Shard former, DelayedId id) throws Exception {
    Bytes body = new Bytes().i32(0);
    RecordCodec.write(body, former);
    body.i64(id.dueMillis()).i64(id.serial()).i32(id.position());
    ByteReader answer =
        new ByteReader(
            get(bench.send(Addresses.control(leader), Frames.request(Op.FIND_MOVED, body))));
    int found = answer.i32();
    long serial = answer.i64();
    return found < 0 ? null : new DelayedId(found, id.dueMillis(), serial, id.position());
  }

  /** However often a topic is resharded, a program can use the id that it got for a message. */
  @Test
  void theFirstIdFindsAMessageAfterTwoReshards() throws Exception {
    DelayedId id = send(Rig.batch(7, 0, 0, 5), 60_000);
    get(cancel(at(id, 1)));
    Shard first = shard;
    bench.control(Op.RESHARD_TOPIC, new Bytes().text("later").i32(2));
    shard = new Shard(first.topicId(), 2);
    await().until(() -> payloads().size() == 4);
    DelayedId second = moved(first, at(id, 3));
    assertThat(second.shard()).isEqualTo(2);
    assertThat(moved(first, at(id, 1))).as("it was cancelled").isNull();
    assertThat(moved(first, at(id, 5))).as("there never was one").isNull();
    assertThat(get(cancel(at(second, 2)))).isEqualTo(Reply.DONE);

    bench.control(Op.RESHARD_TOPIC, new Bytes().text("later").i32(1));
    shard = new Shard(first.topicId(), 3);
    await().until(() -> payloads().equals(List.of("7/0/0", "7/0/3", "7/0/4")));
    assertThat(moved(first, at(id, 2))).isNull();
    DelayedId third = moved(first, at(id, 3));
    assertThat(third.shard()).isEqualTo(3);
    assertThat(moved(new Shard(first.topicId(), 2), second)).isEqualTo(third);
    assertThat(get(cancel(third))).isEqualTo(Reply.DONE);
    assertThat(payloads()).containsExactly("7/0/0", "7/0/4");
  }

  @Test
  void whatIsNoIdIsRefused() throws Exception {
    refused(Refusal.INVALID, cancel(new DelayedId(0, -1, 0, 0)));
    assertThat(unknown(get(cancel(new DelayedId(0, 1, 2, 3))))).isTrue();
    shard = new Shard(shard.topicId(), 9);
    refused(Refusal.UNKNOWN_SHARD, cancel(new DelayedId(9, 1, 2, 3)));
  }
}
