package dev.evenkeel.dispatcher;

import dev.evenkeel.assign.Assignor;
import dev.evenkeel.assign.AverageAssignor;
import dev.evenkeel.assign.Snapshot;
import dev.evenkeel.model.GroupInfo;
import dev.evenkeel.model.Shard;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The assignors of this node by name. Each use is counted. What users' own give is checked: one
 * that fails, or gives what the contract forbids, is told of once and replaced by the default for
 * that plan, so that no shard stays without an owner.
 */
final class AssignorTable {
  private static final Logger LOG = LoggerFactory.getLogger(AssignorTable.class);

  private final Map<String, Assignor> byName = new TreeMap<>();
  private final Set<String> told = new HashSet<>();
  private final Runnable planned;

  /** Those that come with the product. */
  static Map<String, Assignor> own() {
    return Map.of(
        AverageAssignor.NAME, new AverageAssignor(),
        GroupInfo.ASSIGNOR_DEFAULT, new AverageAssignor());
  }

  /**
   * @param others by name; they may replace none of the {@link #own}
   * @param planned is run with each plan
   */
  AssignorTable(Map<String, Assignor> others, Runnable planned) {
    this.planned = planned;
    byName.putAll(others);
    byName.putAll(own());
  }

  /** Those that groups may ask for. */
  Set<String> names() {
    return Set.copyOf(byName.keySet());
  }

  /** The assignor of that name, or null. */
  Assignor named(String name) {
    Assignor assignor = byName.get(name);
    if (assignor == null) {
      tell(name, "this node does not know it", null);
      return null;
    }
    return new Assignor() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public Map<Shard, String> assign(Snapshot snapshot) {
        planned.run();
        return checked(name, assignor, snapshot);
      }
    };
  }

  private Map<Shard, String> checked(String name, Assignor assignor, Snapshot snapshot) {
    try {
      Map<Shard, String> owners = assignor.assign(snapshot);
      String wrong = owners == null ? "it gave null" : wrong(owners, snapshot);
      if (wrong == null) {
        return owners;
      }
      tell(name, wrong, null);
    } catch (RuntimeException e) {
      tell(name, "it failed", e);
    }
    return byName.get(GroupInfo.ASSIGNOR_DEFAULT).assign(snapshot);
  }

  /** What is wrong with a plan, or null. */
  private static String wrong(Map<Shard, String> owners, Snapshot snapshot) {
    Map<String, Set<Integer>> readers = new HashMap<>();
    Set<Integer> wanted = new HashSet<>();
    for (Snapshot.Member member : snapshot.members()) {
      readers.put(member.name(), member.topicIds());
      wanted.addAll(member.topicIds());
    }
    Set<Shard> shards = new HashSet<>();
    for (Snapshot.Held held : snapshot.shards()) {
      if (wanted.contains(held.shard().topicId())) {
        shards.add(held.shard());
      }
    }
    for (Map.Entry<Shard, String> each : owners.entrySet()) {
      Set<Integer> read = readers.get(each.getValue());
      if (!shards.contains(each.getKey())) {
        return "it gave an owner to " + each.getKey() + ", which nobody asked for";
      }
      if (read == null || !read.contains(each.getKey().topicId())) {
        return "it gave " + each.getKey() + " to " + each.getValue() + ", who does not read it";
      }
    }
    return owners.size() == shards.size()
        ? null
        : "it left " + (shards.size() - owners.size()) + " shards without an owner";
  }

  private void tell(String name, String what, RuntimeException failure) {
    if (told.add(name + what)) {
      LOG.warn(
          "assignor {}: {}; {} is used instead", name, what, GroupInfo.ASSIGNOR_DEFAULT, failure);
    }
  }
}
