package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;

/** One change to the state of the meta log group. */
public sealed interface MetaChange extends StateChange<MetaTables> {
  record PutTopic(TopicInfo topic) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.topic(topic.id()), RecordCodec.TOPIC.encode(topic));
    }

    @Override
    public void show(MetaTables tables) {
      tables.topics.put(topic.id(), topic);
      tables.topicIds.put(topic.name(), topic.id());
    }
  }

  record RemoveTopic(TopicInfo topic) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.META, Keys.topic(topic.id()));
    }

    @Override
    public void show(MetaTables tables) {
      tables.topicIds.remove(topic.name());
      tables.topics.remove(topic.id());
    }
  }

  record PutGroup(GroupInfo group) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.named('G', group.name()), RecordCodec.GROUP.encode(group));
    }

    @Override
    public void show(MetaTables tables) {
      tables.groups.put(group.name(), group);
    }
  }

  record RemoveGroup(String name) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.META, Keys.named('G', name));
    }

    @Override
    public void show(MetaTables tables) {
      tables.groups.remove(name);
    }
  }

  record PutGroupLease(GroupLease lease) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(
          Store.Table.META, Keys.named('L', lease.group()), RecordCodec.GROUP_LEASE.encode(lease));
    }

    @Override
    public void show(MetaTables tables) {
      tables.groupLeases.put(lease.group(), lease);
    }
  }

  record RemoveGroupLease(String group) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.META, Keys.named('L', group));
    }

    @Override
    public void show(MetaTables tables) {
      tables.groupLeases.remove(group);
    }
  }

  record PutProducer(NamedProducer producer) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(
          Store.Table.META, Keys.named('P', producer.name()), NamedProducer.CODEC.encode(producer));
    }

    @Override
    public void show(MetaTables tables) {
      tables.producers.put(producer.name(), producer);
    }
  }

  record PutCounters(MetaTables.Counters counters) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.counters(), counters.encode());
    }

    @Override
    public void show(MetaTables tables) {
      tables.counters = counters;
    }
  }

  /**
   * @param number its place in the history; numbers only grow
   */
  record PutMove(long number, MoveRecord move) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.move(number), RecordCodec.MOVE.encode(move));
    }

    @Override
    public void show(MetaTables tables) {
      tables.moves.put(number, move);
    }
  }

  record RemoveMove(long number) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.delete(Store.Table.META, Keys.move(number));
    }

    @Override
    public void show(MetaTables tables) {
      tables.moves.remove(number);
    }
  }

  record PutFeatureLevel(int level) implements MetaChange {
    @Override
    public void write(Store.Write write) {
      write.put(Store.Table.META, Keys.featureLevel(), Codec.I32.encode(level));
    }

    @Override
    public void show(MetaTables tables) {
      tables.featureLevel = level;
    }
  }
}
