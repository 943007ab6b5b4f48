package dev.evenkeel.sim;

import static dev.evenkeel.Loops.times;

import dev.evenkeel.Unchecked;
import dev.evenkeel.broker.machine.Entries;
import dev.evenkeel.broker.machine.MetaState;
import dev.evenkeel.broker.machine.States;
import dev.evenkeel.broker.serve.SealedBench;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.MemoryStore;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;

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

  /** Term of the node that leads meta, and has the active dispatcher. */
  private long metaTerm = 1;

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
    Unchecked.run(() -> meta.open());
    times(dataGroups, i -> groups.add(new DataGroup(i, time, random, logs, cluster.bug, around)));
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

  /** A node leads meta in this term from now on. */
  void metaLed(long term) {
    metaTerm = term;
  }

  Reply submit(MetaCommand command) {
    Reply reply =
        ReplyCodec.decode(
            Entries.apply(
                meta,
                metaTerm,
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

  boolean isPaused(String group, Shard shard) {
    return meta.tables().isHeld(group, shard);
  }

  Set<Pause> pauses(String group) {
    return Set.copyOf(meta.tables().pauses(group));
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
      submit(new MetaCommand.ActivateTopic(of.topic().id(), null));
      topicsChanged.run();
    }
  }

  /** Step by step; others may look in between. */
  void createSlowly(String name, int shards) {
    createSlowly(name, shards, config, no -> {});
  }

  /**
   * @param done gets the reply when all is done, or a refusal
   */
  void createSlowly(String name, int shards, TopicConfig settings, Consumer<Reply> done) {
    Reply reply = submit(new MetaCommand.CreateTopic(name, shards, settings));
    if (reply instanceof Reply.OfTopic of) {
      logs.named(of.topic().id(), name);
      topicsChanged.run();
      openSlowly(of.topic(), done);
    } else {
      done.accept(reply);
    }
  }

  private void openSlowly(TopicInfo topic, Consumer<Reply> done) {
    List<String> readers = readers(topic);
    eachSlowly(
        (group, next) -> {
          DataCommand.OpenShards open = open(topic, groups.indexOf(group), readers);
          if (open == null) {
            next.run();
          } else {
            group.manage(open, next);
          }
        },
        () -> {
          Reply reply = submit(new MetaCommand.ActivateTopic(topic.id(), readers));
          if (hasNewReader(reply)) {
            openSlowly(topic, done);
          } else {
            done.accept(reply);
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
        topic.id(), topic.name(), shards, topic.config(), floor, readers, layout.first());
  }

  /** Makes shards, seals the former ones, and then opens the others; step by step. */
  void reshardSlowly(String name, int shards) {
    if (topic(name).next() == null) {
      reshardSlowly(name, shards, no -> {});
    }
  }

  /**
   * @param done gets the reply when all is done, or a refusal
   */
  void reshardSlowly(String name, int shards, Consumer<Reply> done) {
    Reply reply = submit(new MetaCommand.ReshardTopic(name, shards));
    if (reply instanceof Reply.OfTopic of && of.topic().next() != null) {
      reshardSlowly(of.topic(), done);
    } else {
      done.accept(reply);
    }
  }

  private void reshardSlowly(TopicInfo topic, Consumer<Reply> done) {
    List<String> readers = readers(topic);
    eachSlowly(
        (group, next) ->
            group.manage(open(topic, topic.next(), groups.indexOf(group), readers), next),
        () ->
            eachSlowly(
                (group, next) ->
                    group.manage(
                        new DataCommand.SealShards(topic.id(), topic.next().first()), next),
                () -> {
                  topic
                      .open()
                      .numbers()
                      .forEach(number -> logs.sealed(new Shard(topic.id(), number)));
                  Reply reply = submit(new MetaCommand.OpenLayout(topic.id(), readers));
                  if (hasNewReader(reply)) {
                    reshardSlowly(topic, done);
                  } else {
                    done.accept(reply);
                  }
                }));
  }

  void deleteSlowly(String name) {
    deleteSlowly(name, no -> {});
  }

  /**
   * @param done gets the reply when all is done, or a refusal
   */
  void deleteSlowly(String name, Consumer<Reply> done) {
    Reply reply = submit(new MetaCommand.DeleteTopic(name));
    if (reply instanceof Reply.OfTopic of) {
      int id = of.topic().id();
      logs.dropped(id);
      topicsChanged.run();
      eachSlowly(
          (group, next) -> group.manage(new DataCommand.DropShards(id), next),
          () -> done.accept(submit(new MetaCommand.RemoveTopic(id, epochFloor()))));
    } else {
      done.accept(reply);
    }
  }

  /**
   * Gives a topic other settings.
   *
   * @param done gets the reply when all is done, or a refusal
   */
  void configureSlowly(TopicInfo topic, TopicConfig settings, Consumer<Reply> done) {
    Reply reply = submit(new MetaCommand.ConfigureTopic(topic.id(), settings));
    if (reply instanceof Reply.OfTopic) {
      eachSlowly(
          (group, next) ->
              group.manage(new DataCommand.ConfigureShards(topic.id(), settings), next),
          () -> done.accept(reply));
    } else {
      done.accept(reply);
    }
  }

  /** Drops the oldest shards of topics of which nobody needs them any more. */
  void forgetSealed() {
    Map<Shard, ShardStatus> statuses = new HashMap<>();
    statuses(null).forEach(status -> statuses.put(status.shard(), status));
    for (TopicInfo topic : activeTopics()) {
      if (topic.hasSealed() && topic.next() == null && SealedBench.isOver(topic, statuses)) {
        int first = topic.layouts().get(0).first();
        if (submit(new MetaCommand.ForgetLayout(topic.id(), first)) instanceof Reply.Refused no) {
          throw new SimulationFailure("a layout that nobody needs: " + no);
        }
        topicsChanged.run();
        dropSealed(topic(topic.id()));
      }
    }
  }

  private void dropSealed(TopicInfo topic) {
    int forgetBelow =
        topic.dropped().isEmpty() ? DataCommand.DropSealed.EVERYTHING : topic.firstRemembered();
    int below = topic.layouts().get(0).first();
    eachSlowly(
        (group, next) ->
            group.manage(new DataCommand.DropSealed(topic.id(), below, forgetBelow), next),
        () -> {});
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
