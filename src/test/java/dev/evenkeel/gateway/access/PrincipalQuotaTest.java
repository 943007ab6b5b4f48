package dev.evenkeel.gateway.access;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LocalBroker;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.bus.LocalPauses;
import dev.evenkeel.bus.LocalUsers;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.RefusedException.QuotaReached;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A user pays for what is taken, and for what may have been taken, and for nothing else. */
class PrincipalQuotaTest {
  private static final Principal USER = new Principal("u", List.of());
  private static final String TOPIC_FULL =
      QuotaReached.of("the quota of topic 't' is used up", 1_500, 10, 20).getMessage();

  /** What each sender has paid: never less than nothing. */
  private final class Paid implements LocalQuotas {
    private RefusedException refusal;
    private Object sender;
    private long bytes;
    private long messages;

    @Override
    public Quota quota(QuotaKind kind, String name) {
      return Quota.perSecond(kind, name, 1_000, 1_000);
    }

    @Override
    public Future<Void> pass(Quota.Key key, Object who, long moreBytes, long moreMessages) {
      if (refusal != null) {
        return Future.failedFuture(refusal);
      }
      assertThat(key).isEqualTo(new Quota.Key(QuotaKind.PRINCIPAL, "u"));
      sender = who;
      bytes += moreBytes;
      messages += moreMessages;
      return Future.succeededFuture();
    }

    @Override
    public void giveBack(Quota.Key key, Object who, long fewerBytes, long fewerMessages) {
      assertThat(key).isEqualTo(new Quota.Key(QuotaKind.PRINCIPAL, "u"));
      assertThat(who).isEqualTo(sender);
      bytes -= fewerBytes;
      messages -= fewerMessages;
    }
  }

  @Closing private final Vertx vertx = Vertx.vertx();
  private final Paid paid = new Paid();

  @BeforeEach
  void serve() {
    LocalObjects.put(
        vertx, LocalBroker.class, new LocalBroker(null, paid, LocalPauses.NONE, LocalUsers.NONE));
  }

  private PrincipalQuota.Turn json(String question) {
    PrincipalQuota.Turn turn = PrincipalQuota.turn(vertx, USER, new JsonObject(question));
    await(turn.come());
    return turn;
  }

  private PrincipalQuota.Turn append() {
    BatchBuilder builder = new BatchBuilder(256);
    builder.add(Message.of("k", 0, new byte[3]));
    builder.add(Message.of("k", 0, new byte[3]));
    Batch batch = builder.build(17, 0, 0);
    Bytes body = new Bytes();
    AppendBody.write(body, new Shard(1, 0), batch);
    PrincipalQuota.Turn turn =
        PrincipalQuota.turn(vertx, USER, Addresses.data("n1"), Frames.request(Op.APPEND, body));
    await(turn.come());
    assertThat(paid.messages).isEqualTo(2);
    assertThat(paid.bytes).isEqualTo(batch.length());
    return turn;
  }

  private void assertNothingPaid() {
    assertThat(paid.bytes).isZero();
    assertThat(paid.messages).isZero();
  }

  @Test
  void batchesThatTheQuotaOfTheirTopicRefusesCostNothing() {
    append().answered(Frames.refusal(Refusal.OVERLOADED, TOPIC_FULL));
    assertNothingPaid();
  }

  @Test
  void batchesThatWereTakenAreAndStayPaid() {
    append().answered(Frames.answer(new byte[3]));
    assertThat(paid.messages).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(
      value = Refusal.class,
      names = {"INDETERMINATE", "REPLICAS_MISSING", "INTERNAL"})
  void whatMayHaveBeenTakenStaysPaid(Refusal unknown) {
    append().answered(Frames.refusal(unknown, "who knows"));
    assertThat(paid.messages).isEqualTo(2);
  }

  @Test
  void aRequestThatNobodyGotCostsNothingAndOneThatWasNotAnsweredDoes() {
    append().failed(new ReplyException(ReplyFailure.NO_HANDLERS));
    assertNothingPaid();
    append().failed(new ReplyException(ReplyFailure.TIMEOUT));
    assertThat(paid.messages).isEqualTo(2);
  }

  @Test
  void aMessageAsJsonThatIsRefusedCostsNothing() {
    PrincipalQuota.Turn turn = json("{\"topic\":\"t\",\"payload\":\"abc\"}");
    assertThat(paid.bytes).isEqualTo(3);
    turn.failed(new ReplyException(ReplyFailure.RECIPIENT_FAILURE, 1, "OVERLOADED: " + TOPIC_FULL));
    assertNothingPaid();
    json("{\"topic\":\"t\",\"payload\":\"abc\"}").answered(new JsonObject("{\"shard\":0}"));
    assertThat(paid.messages).isEqualTo(1);
  }

  /** Each succeeds or fails by itself. */
  @Test
  void ofManyMessagesThoseThatWereRefusedCostNothing() {
    String question =
        "{\"topic\":\"t\",\"messages\":[{\"payload\":\"a\"},{\"payload\":\"bb\"},{\"payload\":\"ccc\"}]}";
    JsonArray results =
        new JsonArray()
            .add(new JsonObject().put("error", "OVERLOADED"))
            .add(new JsonObject().put("shard", 0).put("offset", 5))
            .add(new JsonObject().put("error", "INDETERMINATE"));
    json(question).answered(new JsonObject().put("results", results));
    assertThat(paid.messages).isEqualTo(2);
    assertThat(paid.bytes).isEqualTo(5);
    json(question).answered(new JsonObject().put("results", results).toBuffer());
    assertThat(paid.messages).isEqualTo(4);
  }

  @Test
  void aRequestThatTheQuotaOfTheUserRefusesGetsNothingBack() {
    paid.refusal = Refusal.OVERLOADED.error("the quota of principal 'u' is used up");
    PrincipalQuota.Turn turn =
        PrincipalQuota.turn(vertx, USER, new JsonObject("{\"topic\":\"t\",\"payload\":\"a\"}"));
    turn.failed(turn.come().cause());
    assertNothingPaid();
  }
}
