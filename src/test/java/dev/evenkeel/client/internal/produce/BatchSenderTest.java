package dev.evenkeel.client.internal.produce;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.evenkeel.Closing;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Views;
import dev.evenkeel.client.internal.produce.core.BatchResult;
import dev.evenkeel.client.internal.produce.core.CoreSettings;
import dev.evenkeel.client.internal.produce.core.DueTime;
import dev.evenkeel.client.internal.produce.core.ProducerCore;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendResults.Result;
import dev.evenkeel.util.MonotonicClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

class BatchSenderTest {
  private static final TopicInfo TOPIC =
      new TopicInfo(3, "t", 1, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 5);

  @Closing private final Vertx vertx = Vertx.vertx();
  private final FakeLink link = new FakeLink(vertx);
  @Closing private final ClusterDirectory directory = new ClusterDirectory(link);
  private final List<BatchResult<Integer>> reported = new CopyOnWriteArrayList<>();

  private final class Sender extends BatchSender<Integer> {
    Sender() {
      super(
          link,
          directory,
          new EpochOpener(link, directory, ""),
          "t",
          new ProducerCore<>(
              new CoreSettings(16_384, 5, 4, Compression.NONE, 60_000, 500, 10_000),
              null,
              7,
              0,
              () -> 0.5),
          1_000);
    }

    /** The log does not know the topic of a message. */
    synchronized void refused() {
      core.topic(TOPIC);
      core.add(
          new Message(null, null, 5, new byte[10]), DueTime.NOW, 1, 10, MonotonicClock.millis());
      Result unknown = new Result(Refusal.UNKNOWN_TOPIC, 0);
      core.answered(
          core.poll(MonotonicClock.millis()).get(0), 0, unknown, null, MonotonicClock.millis());
      assertThat(core.looksForTopic()).isTrue();
    }

    Future<Void> polled() {
      Promise<Void> done = Promise.promise();
      context.runOnContext(
          none -> {
            poll();
            done.complete();
          });
      return done.future();
    }

    @Override
    protected void report(List<BatchResult<Integer>> outcomes) {
      reported.addAll(outcomes);
    }

    @Override
    protected void reopen() {}

    @Override
    protected void ended(RefusedException why) {}
  }

  /** A view that was asked for before the log's answer may still have the topic. */
  @Test
  void aViewThatIsUnderWayDoesNotExplainAnAnswerOfTheLog() {
    Promise<Buffer> before = Promise.promise();
    link.serve(
        Addresses.VIEW,
        body ->
            before.future().isComplete()
                ? Future.succeededFuture(view(List.of()))
                : before.future());
    directory.refresh();
    Sender sender = new Sender();
    sender.refused();
    await(sender.polled());

    before.complete(view(List.of(TOPIC)));
    await().until(() -> !reported.isEmpty());
    assertThat(reported)
        .singleElement()
        .satisfies(each -> assertThat(each.refused().refusal()).isEqualTo(Refusal.UNKNOWN_TOPIC));
  }

  private static Buffer view(List<TopicInfo> topics) {
    return Views.of("a", "a", List.of("a"), List.of("a"), topics).toJson().toBuffer();
  }
}
