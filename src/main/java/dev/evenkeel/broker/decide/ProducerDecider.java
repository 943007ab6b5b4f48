package dev.evenkeel.broker.decide;

import dev.evenkeel.broker.state.Change;
import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.broker.state.ProducerRecord;
import dev.evenkeel.broker.state.RecentSequences;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Opens epochs of producers. A repeat answers as the first. */
public record ProducerDecider(DataTables tables) {
  public Decision<Change> open(DataCommand.OpenProducer command, long nowMillis) {
    long id = command.producerId();
    int epoch = command.epoch();
    if (id < 1 || epoch < 0) {
      return Decision.refused(
          Refusal.INVALID,
          "producer " + id + " epoch " + epoch + ": ids count from 1, epochs from 0");
    }
    ProducerRecord known = tables.producer(id);
    ProducerRecord next;
    if (known != null && known.publisherOf() != null) {
      return Decision.refused(Refusal.INVALID, "producer " + id + " is that of a handler");
    }
    if (known == null) {
      if (tables.ordinaryProducers() >= AppendDecider.PRODUCERS_HARD_MAX) {
        return Decision.refused(
            Refusal.OVERLOADED,
            tables.ordinaryProducers() + " producers are remembered here; try again in a minute");
      }
      next = ProducerRecord.fresh(id, epoch, nowMillis);
    } else if (known.epoch() > epoch) {
      return Decision.refused(
          Refusal.PRODUCER_FENCED,
          "producer " + id + " has opened epoch " + known.epoch() + ", later than " + epoch);
    } else if (known.epoch() == epoch) {
      next = known.used(nowMillis);
    } else {
      next = known.inEpoch(epoch, nowMillis);
    }
    return new Decision<>(
        List.of(new Change.PutProducer(next)), new Reply.OfSequences(lastOfFormer(next)));
  }

  private Map<Shard, Long> lastOfFormer(ProducerRecord producer) {
    Map<Shard, Long> last = new LinkedHashMap<>();
    tables
        .ringsOf(producer.id())
        .forEach(
            (key, ring) -> {
              long sequence = lastOfFormer(producer, ring);
              if (sequence != RecentSequences.NONE) {
                last.put(key.shard(), sequence);
              }
            });
    return last;
  }

  private static long lastOfFormer(ProducerRecord producer, RecentSequences ring) {
    if (ring.epoch() == producer.epoch()) {
      return ring.formerLast();
    }
    return ring.epoch() == producer.formerEpoch() ? ring.next() - 1 : RecentSequences.NONE;
  }
}
