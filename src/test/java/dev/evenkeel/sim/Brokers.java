package dev.evenkeel.sim;

import dev.evenkeel.broker.machine.Entries;
import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.machine.States;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.MemoryStore;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** All brokers: the meta group and the data groups, and what takes topics through them. */
final class Brokers {
  /** The topic that handlers publish to, if they do. */
  static final String OUTPUTS = "out";

  private final Timeline time;
  private final SplittableRandom random;
  private final ShardLogs logs;
  private final DataGroup.Surroundings around;
  private final Runnable topicsChanged;
  private final MetaState meta;
  private final List<DataGroup> groups = new ArrayList<>();
  private final TopicConfig config;
  private long metaIndex;

  /**
   * @param dataGroups how many
   * @param config of topics
   */
  Brokers(int dataGroups, Cluster cluster, TopicConfig config) {
    time = cluster.time;
    random = cluster.random;
    logs = cluster.logs;
    around = cluster;
    topicsChanged = cluster::topicsChanged;
    this.config = config;
    MemoryStore.Disk disk = new MemoryStore.Disk();
    meta = States.meta(Path.of("target", "sim", "meta"), disk::open);
    try {
      meta.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    for (int i = 0; i < dataGroups; i++) {
      groups.add(new DataGroup(i, time, random, logs, cluster.bug, around));
    }
  }

  List<DataGroup> groups() {
    return groups;
  }

  DataGroup of(Shard shard) {
    return groups.get(shard.dataGroup(groups.size()));
  }

  boolean allLed() {
    return groups.stream().allMatch(DataGroup::led);
  }

  // ---- Meta

  Reply submit(MetaCommand command) {
    Reply reply =
        ReplyCodec.decode(
            Entries.apply(
                meta,
                1,
                metaIndex++,
                ByteBuffer.wrap(Entry.of(command, around.nodes().any().clock.millis()))));
    time.note(() -> command + " -> " + reply);
    around.ledgers().forEach((group, judge) -> judge.decided(reply, meta.tables().group(group)));
    return reply;
  }

  List<TopicInfo> activeTopics() {
    return meta.tables().topics().stream()
        .filter(topic -> topic.state() == TopicInfo.State.ACTIVE)
        .toList();
  }

  /** Those that the group's members may read. */
  List<TopicInfo> inputTopics() {
    return activeTopics().stream().filter(topic -> !topic.name().equals(OUTPUTS)).toList();
  }

  List<GroupInfo> groupInfos() {
    return List.copyOf(meta.tables().groups());
  }

  List<GroupLease> groupLeases() {
    return List.copyOf(meta.tables().groupLeases());
  }

  /** Null if it is gone. */
  TopicInfo topic(int id) {
    return meta.tables().topic(id);
  }

  TopicInfo topic(String name) {
    return meta.tables().topic(name);
  }

  /** A group without members reads these topics. */
  void declare(String group, List<String> topics) {
    submit(Commands.declareGroup(group, GroupPolicy.SHARDED, topics, StartAt.EARLIEST, false));
  }

  /** Whether a group reads the topic of a shard. */
  boolean reads(String group, Shard shard) {
    GroupInfo info = meta.tables().group(group);
    TopicInfo topic = topic(shard.topicId());
    return info != null && topic != null && info.reads(topic.name());
  }

  // ---- Topics

  private interface Step {
    void at(DataGroup group, Runnable done);
  }

  /** At once, everywhere: for the beginning. */
  void create(String name, int shards) {
    if (submit(new MetaCommand.CreateTopic(name, shards, config)) instanceof Reply.OfTopic of) {
      logs.named(of.topic().id(), name);
      for (int i = 0; i < groups.size(); i++) {
        DataCommand.OpenShards open = open(of.topic(), i, readers(of.topic()));
        if (open != null) {
          groups.get(i).begin(open);
        }
      }
      submit(new MetaCommand.ActivateTopic(of.topic().id()));
      topicsChanged.run();
    }
  }

  /** Step by step; others may look in between. */
  void createSlowly(String name, int shards) {
    if (submit(new MetaCommand.CreateTopic(name, shards, config)) instanceof Reply.OfTopic of) {
      logs.named(of.topic().id(), name);
      topicsChanged.run();
      openSlowly(of.topic());
    }
  }

  private void openSlowly(TopicInfo topic) {
    List<String> readers = readers(topic);
    eachSlowly(
        (group, done) -> {
          DataCommand.OpenShards open = open(topic, groups.indexOf(group), readers);
          if (open == null) {
            done.run();
          } else {
            group.manage(open, done);
          }
        },
        () -> {
          if (hasNewReader(submit(new MetaCommand.ActivateTopic(topic.id(), readers)))) {
            openSlowly(topic);
          }
        });
  }

  /** Groups that get leases with new shards. */
  private List<String> readers(TopicInfo topic) {
    return meta.tables().readers(topic);
  }

  private static boolean hasNewReader(Reply reply) {
    return reply instanceof Reply.Refused refused && refused.refusal() == Refusal.OVERLOADED;
  }

  /** What a data group is told of a new topic; null: it has no shard of it. */
  private DataCommand.OpenShards open(TopicInfo topic, int index, List<String> readers) {
    DataCommand.OpenShards open = open(topic, topic.open(), index, readers);
    return open.shards().isEmpty() ? null : open;
  }

  private DataCommand.OpenShards open(
      TopicInfo topic, TopicInfo.Layout layout, int index, List<String> readers) {
    List<Integer> shards =
        layout
            .numbers()
            .filter(shard -> new Shard(topic.id(), shard).dataGroup(groups.size()) == index)
            .boxed()
            .toList();
    long floor = meta.tables().counters().epochFloor();
    return new DataCommand.OpenShards(
        topic.id(), topic.name(), shards, config, floor, readers, layout.first());
  }

  /** Makes shards, seals the former ones, and then opens the others; step by step. */
  void reshardSlowly(String name, int shards) {
    TopicInfo before = topic(name);
    if (before.next() != null
        || !(submit(new MetaCommand.ReshardTopic(name, shards)) instanceof Reply.OfTopic of)
        || of.topic().next() == null) {
      return;
    }
    reshardSlowly(of.topic());
  }

  private void reshardSlowly(TopicInfo topic) {
    List<String> readers = readers(topic);
    eachSlowly(
        (group, done) ->
            group.manage(open(topic, topic.next(), groups.indexOf(group), readers), done),
        () ->
            eachSlowly(
                (group, done) ->
                    group.manage(
                        new DataCommand.SealShards(topic.id(), topic.next().first()), done),
                () -> {
                  topic
                      .open()
                      .numbers()
                      .forEach(number -> logs.sealed(new Shard(topic.id(), number)));
                  if (hasNewReader(submit(new MetaCommand.OpenLayout(topic.id(), readers)))) {
                    reshardSlowly(topic);
                  }
                }));
  }

  void deleteSlowly(String name) {
    if (submit(new MetaCommand.DeleteTopic(name)) instanceof Reply.OfTopic of) {
      int id = of.topic().id();
      logs.dropped(id);
      topicsChanged.run();
      eachSlowly(
          (group, done) -> group.manage(new DataCommand.DropShards(id), done),
          () -> submit(new MetaCommand.RemoveTopic(id, epochFloor())));
    }
  }

  private long epochFloor() {
    return groups.stream().mapToLong(DataGroup::epochFloor).max().orElse(0);
  }

  private void eachSlowly(Step step, Runnable last) {
    int[] left = {groups.size()};
    Runnable done =
        () -> {
          if (--left[0] == 0) {
            Runnable end =
                () -> {
                  last.run();
                  topicsChanged.run();
                };
            time.in(random.nextInt(300), null, "the last step of a topic", end);
          }
        };
    for (DataGroup group : groups) {
      time.in(random.nextInt(600), null, "a step of a topic", () -> step.at(group, done));
    }
  }

  // ---- Reading

  /** Of the data groups that have a leader. */
  List<ShardStatus> statuses(String group) {
    List<ShardStatus> statuses = new ArrayList<>();
    groups.stream().filter(DataGroup::led).forEach(each -> statuses.addAll(each.statuses(group)));
    return statuses;
  }
}
