package dev.evenkeel.cluster;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.cluster.ClusterMembersTest.result;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.evenkeel.TestPorts;
import dev.evenkeel.protocol.HostPort;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.DeliveryOptions;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageProducer;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/**
 * A node is killed that much is to be sent to. Whoever asks it then hears that nobody is there.
 * What had been written to the connection may get no outcome: the event bus may lose it.
 */
class BrokenConnectionTest {
  private static final int MESSAGES = 64;
  private static final int MESSAGE_BYTES = 1 << 20;

  @Test
  void whoAsksHearsThatNobodyIsThereAndTheLogDoesNotTellOfAnError() throws Exception {
    Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> told = new ListAppender<>();
    told.start();
    root.addAppender(told);
    int lost = TestPorts.take(4);
    ClusterMember member = null;
    try (LostPart part = new LostPart(lost)) {
      int port = TestPorts.take(4);
      member =
          result(
              ClusterMembers.node(
                  LostPart.settings(
                      port,
                      List.of(new HostPort("127.0.0.1", lost), new HostPort("127.0.0.1", port)))));
      Vertx vertx = member.vertx();
      result(vertx.eventBus().request(LostPart.ADDRESS, "are you there"));
      part.stop();
      MessageProducer<Buffer> sender = vertx.eventBus().sender(LostPart.ADDRESS);
      times(MESSAGES, i -> sender.write(Buffer.buffer(new byte[MESSAGE_BYTES])));
      part.close();
      await("nobody is there").atMost(60, SECONDS).until(() -> isNobody(vertx));
      assertThat(told.list)
          .filteredOn(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
          .extracting(event -> event.getMessage() + " " + event.getThrowableProxy())
          .isEmpty();
    } finally {
      root.detachAppender(told);
      if (member != null) {
        result(member.close());
      }
    }
  }

  private static boolean isNobody(Vertx vertx) {
    Future<Message<Object>> asked =
        vertx
            .eventBus()
            .request(
                LostPart.ADDRESS, "are you there", new DeliveryOptions().setSendTimeout(1_000));
    await().until(asked::isComplete);
    return asked.cause() instanceof ReplyException reply
        && reply.failureType() == ReplyFailure.NO_HANDLERS;
  }
}
