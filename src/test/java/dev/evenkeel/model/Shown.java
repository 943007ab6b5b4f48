package dev.evenkeel.model;

import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.api.DelayedMessageView;
import dev.evenkeel.api.GroupView;
import dev.evenkeel.api.ListDelayedMessages.DelayedMessages;
import dev.evenkeel.api.TopicView;
import dev.evenkeel.client.Admin;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.model.UserModel.Group;
import dev.evenkeel.model.UserModel.Sent;
import dev.evenkeel.model.UserModel.Topic;
import dev.evenkeel.protocol.Refusal;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** What the cluster shows of a run, compared with what was done. */
final class Shown {
  private final UserModel model;
  private final Answers answers;
  private final Supplier<Admin> admin;

  /** Topics that are there, by name. */
  private final Map<String, Topic> topics;

  /** Names of topics that are gone. */
  private final Set<String> deleted;

  Shown(
      UserModel model,
      Answers answers,
      Supplier<Admin> admin,
      Map<String, Topic> topics,
      Set<String> deleted) {
    this.model = model;
    this.answers = answers;
    this.admin = admin;
    this.topics = topics;
    this.deleted = deleted;
  }

  /** The name of a group in the cluster: members of mode broadcast have one together. */
  static String realName(Group group) {
    return group.name.contains("/") ? group.name.substring(0, group.name.indexOf('/')) : group.name;
  }

  /** The list says what was done. */
  void compare(List<TopicView> listed) {
    Map<String, TopicView> byName = new HashMap<>();
    listed.forEach(each -> byName.put(each.name(), each));
    for (Topic topic : topics.values()) {
      TopicView shown = byName.get(topic.name);
      boolean asItIs =
          shown != null && (topic.shardsNow == null || topic.shardsNow == shown.shards());
      if (!asItIs) {
        model.fault(
            Promise.TOPICS_AGREE, topic + " of " + topic.shardsNow + " is listed as " + shown);
      }
    }
    deleted.stream()
        .filter(byName::containsKey)
        .forEach(name -> model.fault(Promise.TOPICS_AGREE, name + " is listed, but deleted"));
  }

  /** The group as it is shown; null: it is not known. */
  GroupView show(Group group, Refusal... expected) {
    GroupView shown = answers.ask("show " + group, admin.get().group(realName(group)), expected);
    if (shown != null) {
      for (GroupView.Shard shard : shown.shards()) {
        Topic topic = topics.get(shard.topic());
        if (topic != null && group.topics().contains(topic) && shard.committed() != null) {
          model.committed(group, topic, shard.shard(), shard.committed());
        }
      }
    }
    return shown;
  }

  /** What waits is listed by the time when it is due, and nothing else. */
  boolean lookAtDelayed(Topic topic) {
    if (topic == null) {
      return true;
    }
    List<Sent> waiting =
        topic.messages.stream()
            .filter(sent -> sent.delayedId != null && !sent.cancelAsked)
            .toList();
    Set<Integer> listed = new HashSet<>();
    long dueMillis = 0;
    String from = null;
    do {
      DelayedMessages page =
          answers.ask(
              "list delayed of " + topic, admin.get().delayedMessages(topic.name, null, from, 100));
      if (page == null) {
        return false;
      }
      for (DelayedMessageView each : page.messages()) {
        Sent sent = model.sent(Integer.parseInt(each.headers().get(Content.ID).text()));
        listed.add(sent.id);
        if (each.deliverAt() < dueMillis || model.isCancelled(sent)) {
          model.fault(Promise.DELAYED_LIST, topic + " has " + sent + " in its list: " + each);
        }
        dueMillis = each.deliverAt();
      }
      from = page.next();
    } while (from != null);
    // While it moves to another shard, a message may be missing for a moment.
    long nowMillis = System.currentTimeMillis();
    waiting.stream()
        .filter(sent -> topic.layouts == 1 && sent.dueMillis > nowMillis)
        .filter(sent -> !listed.contains(sent.id))
        .forEach(sent -> model.fault(Promise.DELAYED_LIST, topic + " does not list " + sent));
    return true;
  }

  /** Which messages of shards were dropped before the group had them, as it says. */
  static Map<String, GroupView.Shard.Skips> skips(GroupView shown) {
    Map<String, GroupView.Shard.Skips> skips = new HashMap<>();
    GroupView.Shard.Skips none = new GroupView.Shard.Skips(0, -1, 0);
    for (GroupView.Shard shard : shown.shards()) {
      skips.put(shard.name(), shard.skipped() == null ? none : shard.skipped());
    }
    return skips;
  }

  /** Where the messages were that are dead letters of the group. */
  Set<String> letters(Group group) {
    Set<String> places = new HashSet<>();
    if (group.kind.mode() == Mode.BROADCAST) {
      return places;
    }
    String after = null;
    List<DeadLetterView> letters;
    do {
      letters = answers.quietly("letters", admin.get().deadLetters(group.name, after, 1_000));
      for (DeadLetterView each : letters == null ? List.<DeadLetterView>of() : letters) {
        after = each.name();
        places.add(UserModel.place(each.topic(), each.shard(), each.offset()));
        boolean attempts =
            group.shaken || group.replayed || each.attempts() == group.kind.attempts();
        if (!attempts || !group.kind.care() && !each.error().contains(Handlers.MEANT)) {
          model.fault(Promise.LETTER_FACTS, group + " has the dead letter " + each);
        }
      }
      // Large ones come a few at a time.
    } while (letters != null && !letters.isEmpty());
    return places;
  }
}
