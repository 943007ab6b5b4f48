package dev.evenkeel.broker.decide;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.Refusal.TOO_LARGE;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_GROUP;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_SHARD;
import static dev.evenkeel.protocol.Refusal.UNKNOWN_TOPIC;

import dev.evenkeel.broker.state.MetaChange;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.broker.state.SharedTable;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.TopicInfo;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Decides about pauses of groups. They go with their group, their topic or their shard. */
public record PauseDecider(MetaTables tables) {
  private static final Comparator<Pause> ORDER =
      Comparator.comparing(Pause::group).thenComparing(Pause::topicId).thenComparing(Pause::shard);

  /** Pauses or resumes a group, or some of its shards. */
  public Decision<MetaChange> pause(MetaCommand.PauseGroup command) {
    command.check();
    GroupInfo group = tables.group(command.group());
    if (group == null) {
      return Decision.refused(UNKNOWN_GROUP, "there is no group '%s'", command.group());
    }
    int topicId = Pause.ALL_TOPICS;
    if (command.topic() != null) {
      TopicInfo topic = tables.topic(command.topic());
      if (topic == null || topic.state() == TopicInfo.State.DELETING) {
        return Decision.refused(UNKNOWN_TOPIC, "there is no topic '%s'", command.topic());
      }
      if (!group.reads(topic.name())) {
        return Decision.refused(
            UNKNOWN_TOPIC, "group '%s' does not read topic '%s'", group.name(), topic.name());
      }
      if (command.shard() != Pause.ALL_SHARDS && !topic.has(command.shard())) {
        return Decision.refused(
            UNKNOWN_SHARD,
            "topic '%s' has no shard %s: it has shards %s",
            topic.name(),
            command.shard(),
            topic.range());
      }
      topicId = topic.id();
    }
    Pause pause = new Pause(group.name(), topicId, command.shard());
    return command.paused() ? add(group, pause) : resume(pause);
  }

  private Decision<MetaChange> add(GroupInfo group, Pause pause) {
    if (group.policy().isBroadcast()) {
      return Decision.refused(
          INVALID,
          "group '%s' is in mode broadcast, which has no pauses: each of its members reads for"
              + " itself; stop the members instead",
          group.name());
    }
    Set<Pause> known = tables.pauses(group.name());
    if (known.contains(pause)) {
      return Decision.of(List.of());
    }
    if (tables.pauseCount() >= Pause.PAUSES_MAX) {
      return Decision.refused(
          TOO_LARGE, "there are %s pauses: %s", Pause.PAUSES_MAX, SharedTable.PAUSES.advice());
    }
    return Decision.of(List.of(MetaChange.putPause(pause)));
  }

  private Decision<MetaChange> resume(Pause pause) {
    String group = pause.group();
    for (Pause known : tables.pauses(group)) {
      if (!known.equals(pause) && known.covers(pause)) {
        return Decision.refused(
            INVALID,
            known.topicId() == Pause.ALL_TOPICS
                ? "group '%s' is paused as a whole: resume the group"
                : "group '%s' is paused on the whole topic: resume the topic",
            group);
      }
    }
    return Decision.of(removals(tables.pauses(group), pause::covers));
  }

  /** Removes all pauses of a group. */
  List<MetaChange> ofGroup(String group) {
    return removals(tables.pauses(group), pause -> true);
  }

  /** Removes the pauses of a group on a topic. */
  List<MetaChange> ofGroup(String group, String topic) {
    TopicInfo known = tables.topic(topic);
    return known == null
        ? List.of()
        : removals(tables.pauses(group), pause -> pause.topicId() == known.id());
  }

  /** Removes the pauses of all groups on a topic. */
  List<MetaChange> ofTopic(TopicInfo topic) {
    return removals(tables.pauses(), pause -> pause.topicId() == topic.id());
  }

  /** Removes the pauses of all groups on the shards of a layout. */
  List<MetaChange> ofLayout(TopicInfo topic, TopicInfo.Layout layout) {
    return removals(
        tables.pauses(), pause -> pause.topicId() == topic.id() && layout.has(pause.shard()));
  }

  /** Every replica removes them in the same order. */
  private List<MetaChange> removals(Collection<Pause> from, Predicate<Pause> which) {
    return from.stream().filter(which).sorted(ORDER).flatMap(this::removal).toList();
  }

  private Stream<MetaChange> removal(Pause pause) {
    return Stream.concat(
        Stream.of(MetaChange.removePause(pause)),
        tables.owners().removal(SharedTable.row(pause)).stream());
  }
}
