package dev.evenkeel.cluster;

import static dev.evenkeel.cluster.ClusterMembersTest.result;
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
import io.vertx.core.eventbus.MessageProducer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A node is killed that much is to be sent to. */
class BrokenConnectionTest {
  private static final int MESSAGES = 64;
  private static final int MESSAGE_BYTES = 1 << 20;

  @Test
  void whoHasSentHearsThatItFailedAndTheLogDoesNotTellOfAnError() throws Exception {
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
      List<Future<Void>> sent = new ArrayList<>();
      for (int i = 0; i < MESSAGES; i++) {
        sent.add(sender.write(Buffer.buffer(new byte[MESSAGE_BYTES])));
      }
      part.close();
      await("all have an outcome").until(() -> sent.stream().allMatch(Future::isComplete));
      assertThat(sent).anyMatch(Future::failed);
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
}
