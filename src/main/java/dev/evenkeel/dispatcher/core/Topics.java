package dev.evenkeel.dispatcher.core;

import dev.evenkeel.bus.Assignment;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.TopicPattern;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The active topics by name and by number. Only {@link #show} changes them. */
public final class Topics {
  /**
   * Topics that have come or gone or have other shards than before.
   *
   * @param ids their numbers
   * @param names their names
   * @param come those of them that were not there before
   * @param gone shards that are there no more, with the names of their topics
   */
  record Change(Set<Integer> ids, Set<String> names, Set<String> come, Map<Shard, String> gone) {
    boolean isEmpty() {
      return ids.isEmpty();
    }
  }

  /** Sorted by number. */
  private List<TopicInfo> all = List.of();

  private final Map<String, TopicInfo> byName = new HashMap<>();
  private final Map<Integer, TopicInfo> byId = new HashMap<>();

  /** What subscriptions with patterns read. They are looked up with each heartbeat. */
  private final Map<Subscription, Set<String>> matched = new HashMap<>();

  private static final int MATCHED_MAX = 1_000;

  private static final int ALLOWED_MAX = 50;

  /** Most names in {@link #matched}. */
  private static final int MATCHED_NAMES_MAX = 1_000_000;

  /** With more of them, all are looked up anew when topics change. */
  private static final int MATCHED_KEPT_MAX = 100;

  private int matchedNames;

  /** Active topics that are allowed, by what is allowed. */
  private final Map<List<String>, List<String>> allowed = new HashMap<>();

  private long revision;

  /** How often it took a name and a pattern to find out whether they match. */
  private long looks;

  /**
   * What a member subscribes to.
   *
   * @param entries names and patterns
   * @param allowed see {@link #named}
   */
  record Subscription(List<String> entries, List<String> allowed) {
    /** Whether it takes in a topic of that name. */
    boolean takesIn(String name) {
      return entries.contains(name)
          || (allowed == null || matches(allowed, name)) && matches(entries, name);
    }
  }

  /**
   * The subscription of a heartbeat, with each entry once. The names of topics are those that are
   * here anyway.
   */
  Subscription subscription(Heartbeat beat) {
    Set<String> entries = new LinkedHashSet<>();
    for (String entry : beat.topics()) {
      TopicInfo topic = byName.get(entry);
      entries.add(topic == null ? entry : topic.name());
    }
    return new Subscription(List.copyOf(entries), beat.mayConsume());
  }

  Topics(List<TopicInfo> topics) {
    show(topics);
  }

  /**
   * Takes in what the topics are now. What it does for a topic that has not changed is to compare
   * one reference.
   *
   * @param topics in any order
   */
  Change show(List<TopicInfo> topics) {
    List<TopicInfo> now = new ArrayList<>(topics);
    now.sort(Comparator.comparingInt(TopicInfo::id));
    Change change = new Change(new HashSet<>(), new HashSet<>(), new HashSet<>(), new HashMap<>());
    int i = 0;
    int j = 0;
    while (i < all.size() || j < now.size()) {
      TopicInfo before = i < all.size() ? all.get(i) : null;
      TopicInfo after = j < now.size() ? now.get(j) : null;
      if (after == null || before != null && before.id() < after.id()) {
        i++;
        changed(change, before, null);
      } else if (before == null || after.id() < before.id()) {
        j++;
        changed(change, null, after);
      } else {
        i++;
        j++;
        if (before != after) {
          changed(change, before, after);
        }
      }
    }
    all = now;
    if (!change.isEmpty()) {
      revision++;
      allowed.clear();
      forget(change.names());
    }
    return change;
  }

  private void forget(Set<String> names) {
    if (matched.size() > MATCHED_KEPT_MAX) {
      matched.clear();
    } else {
      matched
          .keySet()
          .removeIf(each -> names.stream().anyMatch(name -> matches(each.entries(), name)));
    }
    matchedNames = matched.values().stream().mapToInt(Set::size).sum();
  }

  /** How often topics have come, gone or changed. */
  long revision() {
    return revision;
  }

  /** How often a name was compared with a pattern of a subscription, for tests. */
  long looks() {
    return looks;
  }

  private void changed(Change change, TopicInfo before, TopicInfo after) {
    TopicInfo either = after == null ? before : after;
    if (after == null) {
      byId.remove(before.id());
      byName.remove(before.name(), before);
    } else {
      byId.put(after.id(), after);
      byName.put(after.name(), after);
    }
    if (before != null && after != null && before.layouts().equals(after.layouts())) {
      return;
    }
    change.ids().add(either.id());
    change.names().add(either.name());
    if (before == null) {
      change.come().add(after.name());
    } else {
      before.all().stream()
          .filter(shard -> after == null || !after.has(shard.shard()))
          .forEach(shard -> change.gone().put(shard, before.name()));
    }
  }

  /** Whether a subscription takes in a topic of that name. */
  static boolean matches(Collection<String> subscription, String name) {
    return subscription.stream().anyMatch(entry -> TopicPattern.matches(entry, name));
  }

  public Collection<TopicInfo> all() {
    return byName.values();
  }

  Set<String> names() {
    return Collections.unmodifiableSet(byName.keySet());
  }

  public TopicInfo byName(String name) {
    return byName.get(name);
  }

  /** The name of a topic, or null if it is not active. */
  public String name(int id) {
    TopicInfo topic = byId.get(id);
    return topic == null ? null : topic.name();
  }

  /** For people. */
  String name(Shard shard) {
    return name(shard.topicId()) + "/" + shard.shard();
  }

  boolean has(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    return topic != null && topic.has(shard.shard());
  }

  /** Numbers of those of {@code names} that are active. */
  Set<Integer> ids(Collection<String> names) {
    return names.stream()
        .map(byName::get)
        .filter(Objects::nonNull)
        .map(TopicInfo::id)
        .collect(Collectors.toCollection(HashSet::new));
  }

  /** All shards of the topics with these numbers. */
  List<Shard> shards(Collection<Integer> ids) {
    List<Shard> shards = new ArrayList<>();
    for (int id : ids) {
      TopicInfo topic = byId.get(id);
      if (topic != null) {
        shards.addAll(topic.all());
      }
    }
    return shards;
  }

  /** The sealed shards from which keys have come to this one; empty if there are none. */
  public List<Shard> parents(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    return topic == null || !topic.hasSealed()
        ? List.of()
        : topic.parents(shard.shard()).stream().map(each -> new Shard(topic.id(), each)).toList();
  }

  /**
   * What its new owner must know of a shard that has parents; else null.
   *
   * @param passedOver whether a shard had no message and left no state: then the states of its own
   *     parents still stand for its keys
   */
  Assignment.Origin origin(Shard shard, Predicate<Shard> passedOver) {
    if (parents(shard).isEmpty()) {
      return null;
    }
    TopicInfo topic = byId.get(shard.topicId());
    Map<Integer, Boolean> heirOf = new TreeMap<>();
    addParents(topic, shard, true, passedOver, heirOf);
    TopicInfo.Layout layout = topic.layoutOf(shard.shard());
    return new Assignment.Origin(
        List.copyOf(heirOf.keySet()),
        heirOf.entrySet().stream().filter(Map.Entry::getValue).map(Map.Entry::getKey).toList(),
        layout.first(),
        layout.shards());
  }

  private void addParents(
      TopicInfo topic,
      Shard shard,
      boolean heir,
      Predicate<Shard> passedOver,
      Map<Integer, Boolean> heirOf) {
    for (Shard parent : parents(shard)) {
      boolean first = heir && topic.children(parent.shard()).get(0) == shard.shard();
      if (!parents(parent).isEmpty() && passedOver.test(parent)) {
        addParents(topic, parent, first, passedOver, heirOf);
      } else {
        heirOf.merge(parent.shard(), first, Boolean::logicalOr);
      }
    }
  }

  /** Whether producers write to the shard no more. */
  public boolean isSealed(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    return topic != null && topic.isSealed(shard.shard());
  }

  /** Since when producers write to the shard, in milliseconds since 1970; null: from the start. */
  Long openedMillis(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    TopicInfo.Layout layout = topic == null ? null : topic.layoutOf(shard.shard());
    return layout == null || layout.first() == 0 ? null : (Long) layout.openedMillis();
  }

  /** Number of the first shard in the layout of this one; its own if the layout is gone. */
  int firstBeside(Shard shard) {
    TopicInfo topic = byId.get(shard.topicId());
    TopicInfo.Layout layout = topic == null ? null : topic.layoutOf(shard.shard());
    return layout == null ? shard.shard() : layout.first();
  }

  /** How many shards those of {@code names} have that are active. */
  int shardCount(Collection<String> names) {
    return names.stream()
        .map(byName::get)
        .filter(Objects::nonNull)
        .mapToInt(topic -> (int) topic.numbers().count())
        .sum();
  }

  /** The names in a subscription that are no active topics. */
  List<String> gone(Collection<String> subscription) {
    return subscription.stream()
        .filter(entry -> !TopicPattern.is(entry) && !byName.containsKey(entry))
        .toList();
  }

  /**
   * What a subscription reads: the topics that it names, and the active ones that its patterns
   * match.
   *
   * @param allowed names and patterns of the topics that patterns may take in; null: all
   */
  Set<String> named(Collection<String> subscription, List<String> allowed) {
    return named(new Subscription(List.copyOf(subscription), allowed));
  }

  Set<String> named(Subscription key) {
    if (key.entries().stream().noneMatch(TopicPattern::is)) {
      return new HashSet<>(key.entries());
    }
    Set<String> known = matched.get(key);
    if (known == null) {
      known = match(key);
      if (matched.size() >= MATCHED_MAX || matchedNames + known.size() > MATCHED_NAMES_MAX) {
        matched.clear();
        matchedNames = 0;
      }
      matched.put(key, known);
      matchedNames += known.size();
    }
    return known;
  }

  private Set<String> match(Subscription subscription) {
    Set<String> names = new HashSet<>();
    Collection<String> all = allowedNames(subscription.allowed());
    for (String entry : new HashSet<>(subscription.entries())) {
      if (!TopicPattern.is(entry)) {
        names.add(entry);
        continue;
      }
      looks += all.size();
      for (String name : all) {
        if (TopicPattern.matches(entry, name)) {
          names.add(name);
        }
      }
    }
    return Collections.unmodifiableSet(names);
  }

  private Collection<String> allowedNames(List<String> may) {
    if (may == null) {
      return byName.keySet();
    }
    List<String> known = allowed.get(may);
    if (known == null) {
      if (allowed.size() >= ALLOWED_MAX) {
        allowed.clear();
      }
      looks += (long) may.size() * byName.size();
      known = byName.keySet().stream().filter(name -> matches(may, name)).toList();
      allowed.put(may, known);
    }
    return known;
  }
}
