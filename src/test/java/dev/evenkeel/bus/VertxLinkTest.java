package dev.evenkeel.bus;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class VertxLinkTest {
  private static final long PATIENCE_MILLIS = 30_000;

  private Vertx vertx;
  private VertxLink link;

  @BeforeEach
  void connect(Vertx vertx) {
    this.vertx = vertx;
    link = new VertxLink(vertx, "me");
  }

  private Future<String> ask(String address, String request) {
    return link.request(address, Buffer.buffer(request), PATIENCE_MILLIS).map(Buffer::toString);
  }

  /** Completes when the request was refused; fails the test otherwise. */
  private Future<Void> refused(
      VertxTestContext test, String address, Refusal refusal, long timeoutMillis) {
    return link.request(address, Buffer.buffer("x"), timeoutMillis)
        .transform(
            answer -> {
              test.verify(() -> Refused.is(refusal, answer.cause()));
              return Future.succeededFuture();
            });
  }

  private Future<Void> refused(VertxTestContext test, String address, Refusal refusal) {
    return refused(test, address, refusal, PATIENCE_MILLIS);
  }

  @Test
  void asksAndIsAnswered(VertxTestContext test) {
    vertx.eventBus().consumer("echo", message -> message.reply(message.body()));
    vertx.eventBus().consumer("json", message -> message.reply(new JsonObject().put("a", 1)));
    Future.all(ask("echo", "x"), ask("json", ""))
        .onComplete(
            test.succeeding(
                answers ->
                    test.verify(
                        () -> {
                          assertThat(answers.<String>list()).containsExactly("x", "{\"a\":1}");
                          assertThat(link.clusterMember()).isEqualTo("me");
                          test.completeNow();
                        })));
  }

  @Test
  void tellsWhyThereIsNoAnswer(VertxTestContext test) {
    vertx.eventBus().consumer("silent", message -> {});
    vertx.eventBus().consumer("failing", message -> message.fail(1, "broken"));
    Future.all(
            refused(test, "nobody", Refusal.UNAVAILABLE),
            refused(test, "silent", Refusal.INDETERMINATE, 100),
            refused(test, "failing", Refusal.UNAVAILABLE))
        .onComplete(test.succeedingThenComplete());
  }

  @Test
  void listensUntilTold(VertxTestContext test) {
    Promise<String> heard = Promise.promise();
    Link.Listening listening = link.listen("here", body -> heard.complete(body.toString()));
    listening
        .registered()
        .compose(
            registered -> {
              vertx.eventBus().publish("here", Buffer.buffer("1"));
              return heard.future();
            })
        .compose(
            text -> {
              test.verify(() -> assertThat(text).isEqualTo("1"));
              listening.end();
              return refused(test, "here", Refusal.UNAVAILABLE);
            })
        .onComplete(test.succeedingThenComplete());
  }

  @Test
  void answersRequestsUntilTold(VertxTestContext test) {
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
    serving
        .registered()
        .compose(
            registered ->
                Future.all(
                    ask("here", "x")
                        .onSuccess(text -> test.verify(() -> assertThat(text).isEqualTo("x!"))),
                    answered(test, "fails", Refusal.FENCED),
                    answered(test, "throws", Refusal.INVALID)))
        .compose(
            answered -> {
              serving.end();
              return refused(test, "here", Refusal.UNAVAILABLE);
            })
        .onComplete(test.succeedingThenComplete());
  }

  private Future<Buffer> answered(VertxTestContext test, String request, Refusal refusal) {
    return link.request("here", Buffer.buffer(request), PATIENCE_MILLIS)
        .onSuccess(
            answer -> test.verify(() -> Refused.with(refusal, () -> Frames.answerBody(answer))));
  }

  @Test
  void isLostForGoodWithoutNodes(VertxTestContext test) {
    List<Link.State> states = new CopyOnWriteArrayList<>();
    Promise<Void> closed = Promise.promise();
    link.onState(
        state -> {
          states.add(state);
          if (state == Link.State.CLOSED) {
            closed.complete();
          }
        });
    link.nodesInSight(1);
    assertThat(link.state()).isEqualTo(Link.State.CONNECTED);
    link.nodesInSight(0);
    assertThat(link.clusterMember()).isNull();
    refused(test, "nobody", Refusal.UNAVAILABLE)
        .compose(
            refused -> {
              link.nodesInSight(1);
              test.verify(() -> assertThat(link.state()).isEqualTo(Link.State.LOST));
              return link.close();
            })
        .compose(none -> closed.future())
        .onComplete(
            test.succeeding(
                none ->
                    test.verify(
                        () -> {
                          assertThat(states).containsExactly(Link.State.LOST, Link.State.CLOSED);
                          test.completeNow();
                        })));
  }
}
