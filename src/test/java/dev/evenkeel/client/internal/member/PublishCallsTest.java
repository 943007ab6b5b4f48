package dev.evenkeel.client.internal.member;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Bytes;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** The seeds 2387, 2708 and 5593 of the handover simulation found what is held here. */
class PublishCallsTest {
  private static final Shard INPUT = new Shard(1, 0);

  /** Of the first number that the meta log group gives. */
  private static final long FIRST = ProducerIds.ofGroup(7, "g");

  private final List<DataCommand> sent = new ArrayList<>();
  private Predicate<DataCommand> lost = command -> false;
  private long nextId = 7;
  private long epoch = 1;
  private int formed = 2;

  private final PublishBench calls =
      new PublishBench(
          new PublishBench.Cluster() {
            @Override
            public Future<Reply> submit(Shard shard, DataCommand command) {
              sent.add(command);
              if (lost.test(command)) {
                return Future.failedFuture(new RefusedException(Refusal.INDETERMINATE, "?"));
              }
              return Future.succeededFuture(
                  command instanceof DataCommand.SetPublisher set
                      ? new Reply.OfLease(lease(set.producerId()))
                      : Reply.DONE);
            }

            @Override
            public Future<Reply> submitMeta(MetaCommand command) {
              return Future.succeededFuture(new Reply.OfProducer(nextId++, 0));
            }

            @Override
            public Future<ByteBuffer> append(Shard shard, Bytes body) {
              throw new IllegalStateException("nothing is published");
            }

            @Override
            public int dataGroups() {
              return 2;
            }

            @Override
            public boolean isAdded(int dataGroup) {
              return dataGroup >= formed;
            }
          },
          "g");

  private static Lease lease(long producerId) {
    return Commands.lease("g", INPUT, 1, "m", "i", 0, -1, null, null).publishingAs(producerId);
  }

  private Future<Long> open(long producerId) {
    sent.clear();
    return calls.open(INPUT, epoch, producerId);
  }

  private List<DataCommand.OpenPublisher> opened() {
    return sent.stream()
        .filter(DataCommand.OpenPublisher.class::isInstance)
        .map(DataCommand.OpenPublisher.class::cast)
        .toList();
  }

  @Test
  void aSecondAttemptUsesTheIdOfTheFirst() {
    lost = command -> sent.size() == 2;
    assertThat(open(0).failed()).isTrue();
    lost = command -> command instanceof DataCommand.SetPublisher;
    assertThat(open(0).failed()).isTrue();
    assertThat(opened()).hasSize(2).allMatch(each -> each.producerId() == FIRST && each.fresh());
    lost = command -> false;
    assertThat(open(0).result()).isEqualTo(FIRST);
    assertThat(opened()).hasSize(2).allMatch(each -> each.producerId() == FIRST && each.fresh());
  }

  @Test
  void anIdThatTheLeaseNamesIsNotMadeAnewThoughAnOldReadSaysThatThereIsNone() {
    assertThat(open(0).result()).isEqualTo(FIRST);
    assertThat(open(0).result()).isEqualTo(FIRST);
    assertThat(opened()).hasSize(2).allMatch(each -> each.producerId() == FIRST && !each.fresh());
    assertThat(open(FIRST).result()).isEqualTo(FIRST);
    assertThat(opened()).hasSize(2).noneMatch(DataCommand.OpenPublisher::fresh);
  }

  @Test
  void anAddedGroupNeedNotKnowTheProducer() {
    formed = 1;
    assertThat(open(FIRST).result()).isEqualTo(FIRST);
    assertThat(opened()).hasSize(2);
    assertThat(opened().get(0).fresh()).isFalse();
    assertThat(opened().get(1).fresh()).isTrue();
  }

  @Test
  void theNextEpochOfALeaseWithoutAnIdGetsItsOwn() {
    open(0);
    epoch = 3;
    assertThat(open(0).result()).isEqualTo(ProducerIds.ofGroup(8, "g"));
    assertThat(opened()).hasSize(2).allMatch(each -> each.epoch() == 3 && each.fresh());
  }
}
