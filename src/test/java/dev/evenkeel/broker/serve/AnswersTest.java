package dev.evenkeel.broker.serve;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.FrameCodec;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class AnswersTest {
  /** Nodes ask each other every few seconds, and no figure may rise for it. */
  @Test
  void whoOnlyAsksWhetherTheNodeAnswersCountsAsNoRefusal() {
    Vertx vertx = Vertx.vertx();
    try {
      FrameCodec.register(vertx);
      List<Refusal> counted = new CopyOnWriteArrayList<>();
      vertx
          .eventBus()
          .consumer(
              "a",
              message ->
                  Answers.answer(
                      message,
                      request -> {
                        throw Refusal.INVALID.error("not " + Frames.op(request));
                      },
                      counted::add));
      await(vertx.eventBus().request("a", Buffer.buffer()));
      assertThat(counted).isEmpty();
      await(vertx.eventBus().request("a", Buffer.buffer(new byte[1])));
      assertThat(counted).containsExactly(Refusal.INVALID);
    } finally {
      await(vertx.close());
    }
  }
}
