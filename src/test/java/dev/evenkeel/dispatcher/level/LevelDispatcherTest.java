package dev.evenkeel.dispatcher.level;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.FakeLink;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.client.Delivery;
import dev.evenkeel.client.ShardContext;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.Timeout;
import io.vertx.junit5.VertxExtension;
import io.vertx.junit5.VertxTestContext;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
@Timeout(value = 90, timeUnit = TimeUnit.SECONDS)
class LevelDispatcherTest {
  /** What a node knows of topics may be old: another one may have had the name. */
  @Test
  void messagesAreOfTheTopicWhoseShardWasAssigned(Vertx vertx, VertxTestContext test) {
    FakeLink link = new FakeLink(vertx);
    link.serve(
        Addresses.level("a-1"),
        body -> {
          if (Frames.op(body) == Op.LEVEL_START) {
            SessionState nothing = new SessionState(null, 0, List.of(), List.of(), 4);
            return Future.succeededFuture(Frames.answer(nothing.encode().view()));
          }
          HandOut handOut = HandOut.decode(Frames.body(body));
          test.verify(
              () -> {
                assertThat(handOut.messages().get(0).id().shard()).isEqualTo(new Shard(7, 0));
                assertThat(handOut.topics()).containsEntry(7, "t");
                test.completeNow();
              });
          return Future.succeededFuture(Frames.answer(new Bytes(8).i64(1).view()));
        });
    LevelDispatcher dispatcher =
        new LevelDispatcher(
            link,
            new ClusterDirectory(link),
            "g",
            "n",
            new LevelDispatcher.Wanted(
                Set.of("t"),
                GroupPolicy.of(GroupPolicy.MODE_LEVEL, 10, null, null),
                "none",
                null,
                null),
            "run",
            ended -> {});
    ShardContext shard = new ShardContext("t", 0, 1, "dispatcher@n", 0, 0);
    dispatcher.onCommitted("t", 1, 5);
    dispatcher.diedBefore(shard, new Shard(7, 0), null);
    dispatcher.onAssign(shard, null);
    dispatcher.handle(
        new Delivery("t", 0, 0, new Message(null, null, 0, new byte[1]), "dispatcher@n", 1, 1));
    dispatcher.members(List.of(new LiveMember("a", "a-1", 3_000, false)));
    dispatcher.begin(1);
  }
}
