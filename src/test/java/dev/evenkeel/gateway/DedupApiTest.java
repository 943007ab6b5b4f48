package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Dedup;
import dev.evenkeel.client.DedupClaim;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims over the API, at two gateways. */
class DedupApiTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  private static final AtomicInteger NAMES = new AtomicInteger();
  private static final int LONG_MILLIS = 15_000;

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private EvenkeelClient client;
  private String name;
  private DedupApi here;
  private DedupApi there;

  @BeforeEach
  void open(EmbeddedNode node) {
    client = node.client();
    name = "api-" + NAMES.incrementAndGet();
    here = run(() -> started(new DedupApi(vertx, client)));
    there = run(() -> started(new DedupApi(vertx, client)));
  }

  private static Future<DedupApi> started(DedupApi api) {
    return api.start().map(api);
  }

  @AfterEach
  void close() {
    run(() -> here.stop());
    run(() -> there.stop());
    await(vertx.close());
  }

  private <T> T run(Callable<Future<T>> call) {
    return await(begin(call));
  }

  private <T> Future<T> begin(Callable<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    context.runOnContext(
        none -> {
          try {
            call.call().onComplete(promise);
          } catch (Exception e) {
            promise.fail(e);
          }
        });
    return promise.future();
  }

  private Future<JsonObject> asking(DedupApi api, String action, JsonObject more) {
    JsonObject question = new JsonObject().put("action", action).put("dedup", name);
    return begin(() -> api.answer(question.mergeIn(more), null)).map(JsonObject.class::cast);
  }

  private JsonObject ask(DedupApi api, String action, JsonObject more) {
    return await(asking(api, action, more));
  }

  private JsonObject claim(String key) {
    return ask(here, "claim", new JsonObject().put("key", key));
  }

  private static JsonObject of(JsonObject claim) {
    return new JsonObject().put("claim", claim.getString("claim"));
  }

  @Test
  void oneWorksOneWaitsAndTheThirdIsDeclined() {
    JsonObject works = claim("k");
    assertThat(works.getString("state")).isEqualTo("working");
    assertThat(works.getInteger("expiresMs")).isEqualTo(30_000);
    JsonObject waits = claim("k");
    assertThat(waits.getString("state")).isEqualTo("waiting");
    assertThat(claim("k"))
        .isEqualTo(new JsonObject("{\"claim\":null,\"state\":\"declined\",\"expiresMs\":null}"));
    assertThat(ask(there, "await", of(works)).getString("state")).isEqualTo("working");
    Future<JsonObject> turn = asking(there, "await", of(waits).put("waitMs", LONG_MILLIS));
    assertThat(ask(here, "await", of(waits)).getString("state")).isEqualTo("waiting");
    assertThat(ask(there, "giveBack", of(works)).getBoolean("held")).isTrue();
    assertThat(await(turn).getString("state")).isEqualTo("working");
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(there, "await", of(works)));
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(here, "giveBack", of(works)));
    assertThat(ask(here, "giveBack", of(waits)).getBoolean("held")).isTrue();
    assertThat(claim("k").getString("state")).isEqualTo("working");
  }

  @Test
  void theFirstAnswerMayWaitForTheTurn() {
    Dedup java = client.dedup(name);
    DedupClaim works = await(java.claim("k")).orElseThrow();
    Future<JsonObject> waits =
        asking(here, "claim", new JsonObject().put("key", "k").put("waitMs", LONG_MILLIS));
    Wait.until(
        "one waits",
        () -> {
          Future<Optional<DedupClaim>> third = java.claim("k");
          return await(third.map(Optional::isEmpty));
        });
    works.giveBack();
    assertThat(await(waits).getString("state")).isEqualTo("working");
    await(java.close());
  }

  @Test
  void aClaimThatIsNotAskedForExpires() {
    JsonObject works = ask(here, "claim", new JsonObject().put("key", "k").put("expiresMs", 5_000));
    JsonObject waits =
        ask(here, "claim", new JsonObject().put("key", "k").put("waitMs", LONG_MILLIS));
    assertThat(waits.getString("state")).isEqualTo("working");
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(here, "await", of(works)));
  }

  @Test
  void aClaimThatWorksForTooLongIsLost() {
    JsonObject works = ask(here, "claim", new JsonObject().put("key", "k").put("timeoutMs", 1_000));
    Wait.until(() -> ask(here, "await", of(works)).getString("state").equals("lost"));
    assertThat(ask(here, "giveBack", of(works)).getBoolean("held")).isFalse();
  }

  @Test
  void withItsNodeAClaimEnds() {
    JsonObject works = claim("k");
    run(() -> here.stop());
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(there, "await", of(works)), "open another");
    JsonObject next = ask(there, "claim", new JsonObject().put("key", "k"));
    assertThat(next.getString("state")).isEqualTo("working");
  }

  @Test
  void onlyTheUserWhoMadeAClaimMayUseIt() {
    JsonObject works = ask(here, "claim", new JsonObject().put("key", "k").put("user", "alice"));
    Refused.with(
        Refusal.FORBIDDEN, () -> ask(there, "await", of(works).put("user", "bob")), "another user");
    assertThat(ask(there, "await", of(works).put("user", "alice")).getString("state"))
        .isEqualTo("working");
  }

  @Test
  void whatCannotBeRightIsRefused() {
    Refused.with(Refusal.INVALID, () -> claim(""), "needs a key");
    Refused.with(
        Refusal.INVALID,
        () -> ask(here, "claim", new JsonObject().put("key", "k").put("waitMs", 15_001)));
    name = "a b";
    Refused.with(Refusal.INVALID, () -> claim("k"), "bad dedup name");
  }
}
