package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class AnswersTest {
  /** Nodes ask each other every few seconds, and no figure may rise for it. */
  @Test
  void whoOnlyAsksWhetherTheNodeAnswersCountsAsNoRefusal(Vertx vertx, VertxTestContext test) {
    FrameCodec.register(vertx);
    List<Refusal> counted = new CopyOnWriteArrayList<>();
    vertx
        .eventBus()
        .consumer(
            "a",
            message ->
                Answers.answer(
                    message,
                    (request, asker) -> {
                      throw Refusal.INVALID.error("not " + Frames.op(request));
                    },
                    counted::add));
    vertx
        .eventBus()
        .request("a", Buffer.buffer())
        .compose(
            answer -> {
              test.verify(() -> assertThat(counted).isEmpty());
              return vertx.eventBus().request("a", Buffer.buffer(new byte[1]));
            })
        .onComplete(
            test.succeeding(
                answer ->
                    test.verify(
                        () -> {
                          assertThat(counted).containsExactly(Refusal.INVALID);
                          test.completeNow();
                        })));
  }
}
