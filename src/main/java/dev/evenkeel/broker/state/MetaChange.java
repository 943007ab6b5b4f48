package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One change to the state of the meta log group: a row of table META, and what it alters in memory.
 *
 * @param value null: deletes the row
 */
public record MetaChange(byte[] key, byte @Nullable [] value, Consumer<MetaTables> shown)
    implements StateChange<MetaTables> {
  @Override
  public void write(Store.Write write) {
    write.putOrDelete(Store.Table.META, key, value);
  }

  @Override
  public void show(MetaTables tables) {
    shown.accept(tables);
  }

  public static MetaChange putTopic(TopicInfo topic) {
    return new MetaChange(
        Keys.topic(topic.id()), RecordCodec.TOPIC.encode(topic), tables -> tables.put(topic));
  }

  public static MetaChange removeTopic(TopicInfo topic) {
    return new MetaChange(Keys.topic(topic.id()), null, tables -> tables.remove(topic));
  }

  /** Writes the whole record. It takes the place of {@link MetaTables#topicRows}. */
  public static MetaChange putGroup(GroupInfo group) {
    byte[] value = RecordCodec.GROUP.encode(group);
    return new MetaChange(Keys.named('G', group.name()), value, tables -> tables.put(group));
  }

  public static MetaChange removeGroup(String name) {
    return new MetaChange(Keys.named('G', name), null, tables -> tables.removeGroup(name));
  }

  /** Removes the row that {@link #addTopic} has put. */
  public static MetaChange removeTopicRow(String group, String topic) {
    return new MetaChange(Keys.groupTopic(group, topic), null, tables -> {});
  }

  /** The group reads one more topic. That costs no more in a group that reads many. */
  public static MetaChange addTopic(String group, String topic, long activeMillis) {
    return new MetaChange(
        Keys.groupTopic(group, topic),
        Codec.I64.encode(activeMillis),
        tables -> tables.addTopic(group, topic, activeMillis));
  }

  public static MetaChange putGroupLease(GroupLease lease) {
    byte[] value = RecordCodec.GROUP_LEASE.encode(lease);
    return new MetaChange(Keys.named('L', lease.group()), value, tables -> tables.put(lease));
  }

  public static MetaChange removeGroupLease(String group) {
    return new MetaChange(Keys.named('L', group), null, all -> all.groupLeases.remove(group));
  }

  public static MetaChange putProducer(NamedProducer producer) {
    byte[] value = NamedProducer.CODEC.encode(producer);
    return new MetaChange(Keys.named('P', producer.name()), value, all -> all.put(producer));
  }

  public static MetaChange removeProducer(String name) {
    return new MetaChange(Keys.named('P', name), null, tables -> tables.removeProducer(name));
  }

  public static MetaChange putOwner(SharedTable.Row row, String user) {
    return new MetaChange(
        Keys.owner(row), Codec.NEEDED_TEXT.encode(user), tables -> tables.owners.put(row, user));
  }

  /** See {@link Owners#removal}. */
  public static MetaChange removeOwner(SharedTable.Row row) {
    return new MetaChange(Keys.owner(row), null, tables -> tables.owners.remove(row));
  }

  public static MetaChange putCounters(MetaTables.Counters next) {
    byte[] value = MetaTables.Counters.CODEC.encode(next);
    return new MetaChange(Keys.COUNTERS, value, tables -> tables.counters = next);
  }

  /**
   * @param number its place in the history; numbers only grow
   */
  public static MetaChange putMove(long number, MoveRecord move) {
    byte[] value = RecordCodec.MOVE.encode(move);
    return new MetaChange(Keys.move(number), value, tables -> tables.moves.put(number, move));
  }

  public static MetaChange removeMove(long number) {
    return new MetaChange(Keys.move(number), null, tables -> tables.moves.remove(number));
  }

  public static MetaChange putNode(ClusterNode node) {
    byte[] value = RecordCodec.NODE.encode(node);
    return new MetaChange(Keys.named('A', node.id()), value, tables -> tables.put(node));
  }

  public static MetaChange removeNode(String id) {
    return new MetaChange(Keys.named('A', id), null, tables -> tables.nodes.remove(id));
  }

  /**
   * @param nodes that are to vote in the log group
   */
  public static MetaChange putPlace(String group, List<String> nodes) {
    Bytes value = new Bytes().text(group);
    Codec.TEXTS.write(value, nodes);
    return new MetaChange(
        Keys.named('E', group), value.toArray(), tables -> tables.placement.put(group, nodes));
  }

  public static MetaChange putAddedGroup(AddedLogGroup group) {
    return new MetaChange(
        Keys.addedGroup(group.index()),
        RecordCodec.ADDED_GROUP.encode(group),
        tables -> tables.addedGroups.put(group.index(), group));
  }

  public static MetaChange putQuota(Quota quota) {
    return new MetaChange(
        Keys.quota(quota.key()), RecordCodec.QUOTA.encode(quota), tables -> tables.put(quota));
  }

  public static MetaChange removeQuota(Quota.Key key) {
    return new MetaChange(Keys.quota(key), null, tables -> tables.quotas.remove(key));
  }

  public static MetaChange putUser(ClusterUser user) {
    byte[] value = RecordCodec.USER.encode(user);
    return new MetaChange(Keys.user(user.name()), value, tables -> tables.put(user));
  }

  public static MetaChange removeUser(String name) {
    return new MetaChange(Keys.user(name), null, tables -> tables.removeUser(name));
  }

  public static MetaChange putPause(Pause pause) {
    return new MetaChange(
        Keys.pause(pause), RecordCodec.PAUSE.encode(pause), tables -> tables.put(pause));
  }

  public static MetaChange removePause(Pause pause) {
    return new MetaChange(Keys.pause(pause), null, tables -> tables.remove(pause));
  }

  /** Whether it lets a group go on, so that fetches that wait must be looked at again. */
  public boolean resumes() {
    return value == null && key[0] == Keys.PAUSE;
  }

  public static MetaChange putFeatureLevel(int level) {
    byte[] value = Codec.I32.encode(level);
    return new MetaChange(Keys.FEATURE_LEVEL, value, tables -> tables.featureLevel = level);
  }
}
