package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.broker.machine.Rig;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Bytes;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which producers a user's program may bring by a batch alone. */
class AppendServiceTest {
  private static final long NAMED = ProducerIds.ofName("p");

  private final Rig rig = Rig.opened();

  private void append(Shard shard, long producer, long sequence) {
    Bytes body = new Bytes();
    AppendBody.write(body, shard, Rig.batch(producer, 0, sequence, 1));
    List<AppendBody.Item> items = AppendBody.read(body.view());
    AppendService.requireOpened(items, rig.tables());
  }

  private void refused(long producer) {
    assertThatThrownBy(() -> append(Rig.SHARD, producer, 0))
        .isInstanceOfSatisfying(
            RefusedException.class,
            no -> assertThat(no.refusal()).isEqualTo(Refusal.UNKNOWN_PRODUCER))
        .hasMessageContaining("open an epoch");
  }

  /** They would count for nobody, or for a group of which a user has as many as it likes. */
  @Test
  void oneOfNobodyKnownHasToBeOpened() {
    refused(7);
    refused(NAMED);
    refused(SpoolPublisher.id(NAMED));
    refused(ProducerIds.ofGroup(7, "greedy-1"));
    rig.run(new DataCommand.OpenProducer(NAMED, 0, ProducerIds.tagOf("greedy")));
    append(Rig.SHARD, NAMED, 0);
  }

  @Test
  void oneOfTheUserOrWithoutDeduplicationComesByABatch() {
    append(Rig.SHARD, ProducerIds.ofUser(7, "shop"), 0);
    append(Rig.SHARD, SpoolPublisher.id(ProducerIds.ofUser(7, "shop")), 0);
    append(Rig.SHARD, 0, 0);
  }

  /** The log has the answer to these, and notes nothing. */
  @Test
  void whatBringsNoProducerGoesToTheLog() {
    append(Rig.SHARD, NAMED, 1);
    append(new Shard(9, 9), NAMED, 0);
  }
}
