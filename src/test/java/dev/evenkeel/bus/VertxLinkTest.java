package dev.evenkeel.bus;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class VertxLinkTest {
  private static final long PATIENCE_MILLIS = 30_000;

  @Closing private final Vertx vertx = Vertx.vertx();
  private final VertxLink link = new VertxLink(vertx, "me");

  @Test
  void asksAndIsAnswered() {
    vertx.eventBus().consumer("echo", message -> message.reply(message.body()));
    vertx.eventBus().consumer("json", message -> message.reply(new JsonObject().put("a", 1)));
    assertThat(await(link.request("echo", Buffer.buffer("x"), PATIENCE_MILLIS)).toString())
        .isEqualTo("x");
    assertThat(await(link.request("json", Buffer.buffer(), PATIENCE_MILLIS)).toString())
        .isEqualTo("{\"a\":1}");
    assertThat(link.clusterMember()).isEqualTo("me");
  }

  @Test
  void tellsWhyThereIsNoAnswer() {
    vertx.eventBus().consumer("silent", message -> {});
    vertx.eventBus().consumer("failing", message -> message.fail(1, "broken"));
    refused("nobody", Refusal.UNAVAILABLE);
    refused("silent", Refusal.INDETERMINATE, 100);
    refused("failing", Refusal.UNAVAILABLE);
  }

  @Test
  void listensUntilTold() {
    List<String> heard = new CopyOnWriteArrayList<>();
    Link.Listening listening = link.listen("here", body -> heard.add(body.toString()));
    await(listening.registered());
    vertx.eventBus().publish("here", Buffer.buffer("1"));
    await().until(() -> heard.contains("1"));
    listening.end();
    refused("here", Refusal.UNAVAILABLE);
  }

  @Test
  void answersRequestsUntilTold() {
    Link.Listening serving =
        link.serve(
            "here",
            request ->
                switch (request.toString()) {
                  case "fails" ->
                      Future.failedFuture(new RefusedException(Refusal.FENCED, "too late"));
                  case "throws" -> throw new RefusedException(Refusal.INVALID, "nonsense");
                  default -> Future.succeededFuture(request.copy().appendString("!"));
                });
    await(serving.registered());
    assertThat(await(link.request("here", Buffer.buffer("x"), PATIENCE_MILLIS)).toString())
        .isEqualTo("x!");
    answered("fails", Refusal.FENCED);
    answered("throws", Refusal.INVALID);
    serving.end();
    refused("here", Refusal.UNAVAILABLE);
  }

  private void answered(String request, Refusal refusal) {
    Buffer answer = await(link.request("here", Buffer.buffer(request), PATIENCE_MILLIS));
    Refused.with(refusal, () -> Frames.answerBody(answer));
  }

  @Test
  void isLostForGoodWithoutNodes() {
    List<Link.State> states = new CopyOnWriteArrayList<>();
    link.onState(states::add);
    link.nodesInSight(1);
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
    link.nodesInSight(0);
    assertThat(link.clusterMember()).isNull();
    refused("nobody", Refusal.UNAVAILABLE);
    link.nodesInSight(1);
    assertThat(link.state()).isEqualTo(Link.State.LOST);
    await(link.close());
    await().until(() -> states.equals(List.of(Link.State.LOST, Link.State.CLOSED)));
  }

  private void refused(String address, Refusal refusal) {
    refused(address, refusal, PATIENCE_MILLIS);
  }

  private void refused(String address, Refusal refusal, long timeoutMillis) {
    Refused.with(refusal, () -> await(link.request(address, Buffer.buffer("x"), timeoutMillis)));
  }
}
