package dev.evenkeel.broker.serve;

import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.bus.KnownIds;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.TopicInfo;
import java.util.Collection;
import java.util.function.Supplier;

/** Names from this node's copy of the meta log, which may be a little behind. */
public final class MetaIds implements KnownIds {
  private final Supplier<MetaTables> tables;

  /**
   * @param tables the present ones
   */
  public MetaIds(Supplier<MetaTables> tables) {
    this.tables = tables;
  }

  @Override
  public String topic(int id) {
    MetaTables now = tables.get();
    // Read first: a topic that is missing after that was deleted.
    int next = now.counters().nextTopicId();
    TopicInfo topic = now.topic(id);
    if (topic == null && id >= next) {
      throw KnownIds.unheard("topic", id);
    }
    return topic == null ? null : topic.name();
  }

  @Override
  public String producer(long id) {
    MetaTables now = tables.get();
    long next = now.counters().nextProducerId();
    String name = now.producerName(id);
    boolean later = ProducerIds.isOfName(id) || ProducerIds.number(id) >= next;
    if (name == null && later) {
      throw KnownIds.unheard("producer", id);
    }
    return name;
  }

  @Override
  public boolean isForgotten(long producer, int epoch) {
    MetaTables now = tables.get();
    // A name of which this node has not heard begins at this epoch or above.
    return ProducerIds.isOfName(producer)
        && epoch < now.counters().producerEpochNext()
        && now.producerName(producer) == null;
  }

  @Override
  public Collection<String> groups(int tag) {
    return tables.get().groups(tag);
  }

  @Override
  public int featureLevel() {
    return tables.get().featureLevel();
  }

  @Override
  public Quota groupRate(String group) {
    return tables.get().quota(QuotaKind.GROUP_RATE, group);
  }
}
