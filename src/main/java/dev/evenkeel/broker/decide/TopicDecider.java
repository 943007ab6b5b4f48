package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.OVERLOADED;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.TOPIC_EXISTS;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Decides about topics: CREATING → ACTIVE → DELETING → gone. Ids are never used again. */
public record TopicDecider(MetaTables tables) {
  /** Most layouts of a topic at once. */
  public static final int LAYOUTS_MAX = 16;

  /** Most topics of a cluster in which a node may be of a former version. */
  public static final int TOPICS_MAX_FORMER = 10_000;

  public Decision<MetaChange> create(MetaCommand.CreateTopic command, long nowMillis) {
    String name = Names.check("topic", command.name());
    if (!mayBe(command.shards())) {
      return wrongNumber(name, command.shards());
    }
    command.config().check();
    TopicInfo taken = tables.topic(name);
    if (taken != null) {
      return Decision.refused(TOPIC_EXISTS, exists(taken));
    }
    int max =
        tables.featureLevel() < FeatureLevel.TOPIC_PATTERNS ? TOPICS_MAX_FORMER : Limits.TOPICS_MAX;
    if (tables.topicCount() >= max) {
      return Decision.refused(TOO_LARGE, "there are " + max + " topics, no more are allowed");
    }
    MetaTables.Counters counters = tables.counters();
    TopicInfo topic =
        new TopicInfo(
            counters.nextTopicId(),
            name,
            command.shards(),
            groupsFor(command.shards()),
            command.config(),
            TopicInfo.State.CREATING,
            nowMillis);
    return new Decision<>(
        List.of(MetaChange.putTopic(topic), MetaChange.putCounters(counters.afterTopic())),
        new Reply.OfTopic(topic));
  }

  private static boolean mayBe(int shards) {
    return shards >= 1 && shards <= Limits.SHARDS_MAX;
  }

  private static Decision<MetaChange> wrongNumber(String name, int shards) {
    return Decision.refused(
        INVALID, "topic '%s' with %s shards: use 1 to %s", name, shards, Limits.SHARDS_MAX);
  }

  private static String exists(TopicInfo taken) {
    return switch (taken.state()) {
      case ACTIVE -> "topic '" + taken.name() + "' exists with " + taken.shards() + " shards";
      case CREATING ->
          "topic '" + taken.name() + "' is being created with " + taken.shards() + " shards";
      case DELETING ->
          "topic '" + taken.name() + "' is being deleted; its name is free again after that";
    };
  }

  public Decision<MetaChange> activate(MetaCommand.ActivateTopic command) {
    TopicInfo topic = tables.topic(command.topicId());
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      return unknown(String.valueOf(command.topicId()));
    }
    String unknown = newReader(topic, command.readers());
    return unknown == null
        ? put(topic.inState(TopicInfo.State.ACTIVE), takenIn(topic, command.readers()))
        : needsLeases(unknown);
  }

  /** Patterns of groups take the topic in: from now on their records name it. */
  private List<MetaChange> takenIn(TopicInfo topic, @Nullable List<String> readers) {
    return readers == null
        ? List.of()
        : tables.readers(topic).stream()
            .map(tables::group)
            .filter(group -> !group.reads(topic.name()))
            .map(
                group ->
                    MetaChange.addTopic(
                        group.name(), topic.name(), tables.counters().activeMillis()))
            .toList();
  }

  /** A group that reads the topic and is not among {@code readers}; null if there is none. */
  private @Nullable String newReader(TopicInfo topic, @Nullable List<String> readers) {
    if (readers == null) {
      return null;
    }
    Set<String> known = Set.copyOf(readers);
    return tables.readers(topic).stream()
        .filter(group -> !known.contains(group))
        .findFirst()
        .orElse(null);
  }

  private static Decision<MetaChange> needsLeases(String group) {
    return Decision.refused(
        OVERLOADED, "group '%s' has come to read the topic: it needs leases first", group);
  }

  public Decision<MetaChange> configure(MetaCommand.ConfigureTopic command) {
    TopicInfo topic = tables.topic(command.topicId());
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      return unknown(String.valueOf(command.topicId()));
    }
    command.config().check();
    return put(topic.configured(command.config()));
  }

  /**
   * The pauses of the topic stay until it is removed: consumers have messages of it until then.
   *
   * @param level the feature level of the log group's state
   */
  public Decision<MetaChange> delete(MetaCommand.DeleteTopic command, int level) {
    TopicInfo topic = tables.topic(command.name());
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      return unknown("'" + command.name() + "'");
    }
    return put(
        topic.inState(TopicInfo.State.DELETING),
        level >= FeatureLevel.LASTING_PAUSES ? List.of() : new PauseDecider(tables).ofTopic(topic));
  }

  /**
   * @param level the feature level of the log group's state
   */
  public Decision<MetaChange> remove(MetaCommand.RemoveTopic command, int level) {
    TopicInfo topic = tables.topic(command.topicId());
    if (topic == null) {
      return Decision.of(List.of());
    }
    if (topic.state() != TopicInfo.State.DELETING) {
      return Decision.refused(
          INVALID, "topic '" + topic.name() + "' is not being deleted: delete it first");
    }
    List<MetaChange> changes = new ArrayList<>();
    if (level >= FeatureLevel.LASTING_PAUSES) {
      changes.addAll(new PauseDecider(tables).ofTopic(topic));
    }
    changes.add(MetaChange.removeTopic(topic));
    changes.addAll(tables.owners().removal(new SharedTable.Row(SharedTable.TOPICS, topic.name())));
    MetaTables.Counters next = tables.counters().aboveEpoch(command.epochFloor());
    if (!next.equals(tables.counters())) {
      changes.add(MetaChange.putCounters(next));
    }
    return Decision.of(changes);
  }

  /** Gives the topic another number of shards, which are to be opened. */
  public Decision<MetaChange> reshard(MetaCommand.ReshardTopic command) {
    TopicInfo topic = tables.topic(command.name());
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      return unknown("'" + command.name() + "'");
    }
    int shards = command.shards();
    if (!mayBe(shards)) {
      return wrongNumber(topic.name(), shards);
    }
    if (topic.state() != TopicInfo.State.ACTIVE) {
      return Decision.refused(
          INVALID, "topic '%s' is being created: reshard it after that", topic.name());
    }
    if (topic.next() != null) {
      return topic.next().shards() == shards
          ? Decision.unchanged(new Reply.OfTopic(topic))
          : Decision.refused(
              INVALID,
              "topic '%s' is being given %s shards: reshard it again after that",
              topic.name(),
              topic.next().shards());
    }
    if (topic.shards() == shards) {
      return Decision.unchanged(new Reply.OfTopic(topic));
    }
    if (topic.layouts().size() >= LAYOUTS_MAX) {
      return Decision.refused(
          INVALID,
          "topic '%s' has shards of %s former layouts, no more are allowed: they go once every "
              + "group has consumed them and retention has dropped their messages",
          topic.name(),
          LAYOUTS_MAX - 1);
    }
    if (topic.open().end() > Limits.SHARD_NUMBERS_MAX - shards) {
      return Decision.refused(
          TOO_LARGE,
          "topic '%s' has had %s shards, and with %s more it would have more than %s: create a new "
              + "topic",
          topic.name(),
          topic.open().end(),
          shards,
          Limits.SHARD_NUMBERS_MAX);
    }
    return put(topic.opening(shards, groupsFor(shards)));
  }

  /**
   * The data log groups for new shards: those with the fewest shards first. None as long as the
   * cluster has only those that it was formed with: see {@link TopicInfo.Layout#groups}.
   */
  private List<Integer> groupsFor(int shards) {
    int open = tables.openGroups();
    if (open == 0) {
      return List.of();
    }
    int formed = tables.addedGroups().iterator().next().index();
    int[] held = new int[formed + open];
    for (TopicInfo topic : tables.topics()) {
      topic.numbersEver().forEach(shard -> held[topic.group(shard, formed)]++);
    }
    return IntStream.range(0, held.length)
        .boxed()
        .sorted(Comparator.comparingInt((Integer group) -> held[group]))
        .limit(shards)
        .toList();
  }

  /** Producers write to the new shards from now on. */
  public Decision<MetaChange> open(MetaCommand.OpenLayout command, long nowMillis) {
    TopicInfo topic = tables.topic(command.topicId());
    if (topic == null || topic.state() == TopicInfo.State.DELETING) {
      return unknown(String.valueOf(command.topicId()));
    }
    if (topic.next() == null) {
      return Decision.unchanged(new Reply.OfTopic(topic));
    }
    String unknown = newReader(topic, command.readers());
    return unknown == null ? put(topic.opened(nowMillis)) : needsLeases(unknown);
  }

  /**
   * Nothing is left of the topic's oldest layout.
   *
   * @param level the feature level of the log group's state
   */
  public Decision<MetaChange> forget(MetaCommand.ForgetLayout command, int level) {
    TopicInfo topic = tables.topic(command.topicId());
    if (topic == null) {
      return unknown(String.valueOf(command.topicId()));
    }
    if (!topic.hasSealed() || topic.layouts().get(0).first() != command.first()) {
      return Decision.unchanged(new Reply.OfTopic(topic));
    }
    return put(
        topic.withoutOldest(level >= FeatureLevel.DROPPED_LAYOUTS),
        new PauseDecider(tables).ofLayout(topic, topic.layouts().get(0)));
  }

  private static Decision<MetaChange> put(TopicInfo topic) {
    return put(topic, List.of());
  }

  private static Decision<MetaChange> put(TopicInfo topic, List<MetaChange> more) {
    List<MetaChange> changes = new ArrayList<>(more);
    changes.add(MetaChange.putTopic(topic));
    return new Decision<>(changes, new Reply.OfTopic(topic));
  }

  private static Decision<MetaChange> unknown(String topic) {
    return Decision.refused(UNKNOWN_TOPIC, "there is no topic " + topic);
  }
}
