package dev.evenkeel.gateway;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.testkit.EmbeddedNode;
import dev.evenkeel.testkit.EvenkeelExtension;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Candidates of programs that ask request by request, at the gateway of theirs and at another. */
class ElectionsApiTest {
  @RegisterExtension static final EvenkeelExtension EVENKEEL = new EvenkeelExtension();

  /** Longer than any of these tests: such a wait ends because of something else. */
  private static final int LONG_MILLIS = 15_000;

  private final Vertx vertx = Vertx.vertx();
  private final Context context = vertx.getOrCreateContext();
  private final String election = "e-" + System.nanoTime();
  private EvenkeelClient client;
  private ElectionsApi here;
  private ElectionsApi there;

  @BeforeEach
  void start(EmbeddedNode node) {
    client = node.client();
    here = run(() -> started(new ElectionsApi(vertx, client)));
    there = run(() -> started(new ElectionsApi(vertx, client)));
  }

  private static Future<ElectionsApi> started(ElectionsApi api) {
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

  private String open(String member, JsonObject more) {
    JsonObject question =
        new JsonObject()
            .put("action", "open")
            .put("election", election)
            .put("member", member)
            .mergeIn(more);
    JsonObject opened = (JsonObject) run(() -> here.answer(question, null));
    assertThat(opened.getString("member")).isEqualTo(member);
    return opened.getString("candidate");
  }

  private String open(String member) {
    return open(member, new JsonObject());
  }

  private JsonObject question(String action, String candidate) {
    return new JsonObject()
        .put("action", action)
        .put("election", election)
        .put("candidate", candidate);
  }

  private JsonObject ask(ElectionsApi api, JsonObject question) {
    return (JsonObject) run(() -> api.answer(question, null));
  }

  private Future<Object> watching(ElectionsApi api, String candidate, Long term, String poll) {
    JsonObject asked = question("watch", candidate).put("waitMs", LONG_MILLIS).put("term", term);
    return begin(() -> api.answer(asked, poll));
  }

  private static JsonObject leads(long term) {
    return new JsonObject().put("leads", true).put("term", term).put("handingOver", false);
  }

  private static JsonObject handsOver(long term) {
    return leads(term).put("leads", false).put("handingOver", true);
  }

  private static JsonObject waits() {
    return new JsonObject().put("leads", false).putNull("term").put("handingOver", false);
  }

  @Test
  void aRequestWaitsForNewsAndTheHandoverForTheCaller() {
    String a = open("a");
    assertThat(await(watching(there, a, null, null))).isEqualTo(leads(1));
    String b = open("b");
    Future<Object> newsOfA = watching(there, a, 1L, null);
    Future<Object> newsOfB = watching(there, b, null, null);
    assertThat(ask(there, question("resign", a).put("term", 1))).isEqualTo(handsOver(1));
    assertThat(await(newsOfA)).isEqualTo(handsOver(1));
    JsonObject asked =
        question("watch", a).put("term", 1).put("handingOver", true).put("waitMs", 0);
    assertThat(ask(here, asked)).isEqualTo(handsOver(1));
    assertThat(newsOfB.isComplete()).as("the handover is awaited").isFalse();
    assertThat(ask(there, question("handedOver", a).put("term", 1))).isEqualTo(waits());
    assertThat(await(newsOfB)).isEqualTo(leads(2));
    assertThat(ask(here, question("watch", a).put("waitMs", 0))).isEqualTo(waits());
  }

  @Test
  void whoHasHandedOverWithoutBeingAskedResigns() {
    String a = open("a");
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(1));
    assertThat(ask(here, question("handedOver", a).put("term", 1))).isEqualTo(waits());
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(2));
  }

  @Test
  void aTermThatTheCandidateDoesNotLeadIsFenced() {
    String a = open("a");
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(1));
    Refused.with(
        Refusal.FENCED, () -> ask(here, question("resign", a).put("term", 2)), "at term 1");
    Refused.with(Refusal.FENCED, () -> ask(here, question("handedOver", a).put("term", 2)));
  }

  @Test
  void whoClosesLeavesAndTheNextLeadsAtOnce() {
    String a = open("a");
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(1));
    String b = open("b");
    Future<Object> newsOfB = watching(here, b, null, null);
    Future<Object> newsOfA = watching(here, a, 1L, null);
    assertThat(ask(there, question("close", a)).getString("candidate")).isEqualTo(a);
    assertThat(await(newsOfB)).isEqualTo(leads(2));
    Refused.with(Refusal.UNKNOWN_SESSION, () -> await(newsOfA), "was closed");
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(here, question("watch", a)), a);
  }

  /** An abandoned request keeps nobody alive. */
  @Test
  void aCandidateWithoutRequestsExpires() {
    String a = open("a", new JsonObject().put("expiresMs", 5_000));
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(1));
    String b = open("b");
    Future<Object> newsOfA = watching(here, a, 1L, "poll");
    run(() -> there.answer(question("abandon", a), "poll"));
    assertThat(await(newsOfA)).isEqualTo(leads(1));
    assertThat(await(watching(here, b, null, null))).isEqualTo(leads(2));
    Refused.with(Refusal.UNKNOWN_SESSION, () -> ask(here, question("watch", a)));
  }

  @Test
  void aLaterRequestTakesThePlaceOfTheFormer() {
    String a = open("a");
    assertThat(await(watching(here, a, null, null))).isEqualTo(leads(1));
    Future<Object> former = watching(here, a, 1L, null);
    Future<Object> later = watching(here, a, 1L, null);
    assertThat(await(former)).isEqualTo(leads(1));
    assertThat(later.isComplete()).isFalse();
  }

  @Test
  void theGatewayEndsItsCandidates() {
    open("a");
    run(() -> here.stop());
    Wait.until("nobody is there", () -> await(client.admin().group(election)).members().isEmpty());
    Refused.with(Refusal.UNAVAILABLE, () -> open("b"), "stops");
  }

  @Test
  void anotherUserMayNotAsk() {
    String a = open("a", new JsonObject().put("user", "shop"));
    Refused.with(
        Refusal.FORBIDDEN, () -> ask(there, question("watch", a).put("user", "bank")), "another");
    assertThat(ask(there, question("close", a).put("user", "shop")).getString("candidate"))
        .isEqualTo(a);
  }

  @Test
  void aCandidateIsOfOneElection() {
    String a = open("a");
    Refused.with(
        Refusal.UNKNOWN_SESSION, () -> ask(here, question("watch", a).put("election", "other")));
    Refused.with(
        Refusal.UNKNOWN_SESSION,
        () -> ask(here, question("watch", "0123456789abcdef0123456789abcdef.x")),
        "open another one");
  }
}
