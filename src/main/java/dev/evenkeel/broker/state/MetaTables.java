package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.ProducerIds;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.FeatureLevel;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The meta log group's state. Only {@link MetaChange} alters it, on the applying thread; topics,
 * groups, their leases and moves may be read from any.
 */
public final class MetaTables {
  final Map<Integer, TopicInfo> topics = new ConcurrentSkipListMap<>();
  final Map<String, Integer> topicIds = new ConcurrentHashMap<>();
  final Map<String, GroupInfo> groups = new ConcurrentSkipListMap<>();

  /** Names of groups, by {@link ProducerIds#tagOf}; the sets may be read from any thread. */
  private final Map<Integer, Set<String>> groupTags = new ConcurrentHashMap<>();

  /** By group, the topics that have rows of their own; only for the applying thread. */
  private final Map<String, Set<String>> topicRows = new HashMap<>();

  final Map<String, GroupLease> groupLeases = new ConcurrentSkipListMap<>();
  final Map<String, NamedProducer> producers = new ConcurrentHashMap<>();
  final Map<Long, String> producerNames = new ConcurrentHashMap<>();
  final Map<String, ClusterNode> nodes = new ConcurrentSkipListMap<>();
  final Map<String, List<String>> placement = new ConcurrentSkipListMap<>();
  final NavigableMap<Integer, AddedLogGroup> addedGroups = new ConcurrentSkipListMap<>();
  final Map<Quota.Key, Quota> quotas = new ConcurrentHashMap<>();

  private final Map<String, ClusterUser> users = new ConcurrentSkipListMap<>();

  /** Another one after each change of the users. */
  private volatile Object usersVersion = new Object();

  /** By group; the sets may be read from any thread. */
  final Map<String, Set<Pause>> pauses = new ConcurrentHashMap<>();

  final Owners owners = new Owners();
  final MoveTable moves = new MoveTable();
  final TopicChanges topicChanges = new TopicChanges();

  /** The entry that is being applied. */
  private long index;

  volatile Counters counters = Counters.FIRST;
  volatile int featureLevel = FeatureLevel.FIRST;

  /**
   * Numbers that only grow, never twice the same id.
   *
   * @param nextTopicId to be given out next; never one twice
   * @param nextProducerId to be given out next; never one twice
   * @param activeMillis how long dispatchers have been active, see {@link
   *     dev.evenkeel.protocol.MetaCommand.AddActiveTime}
   * @param epochFloor no lease on a topic that was removed had a higher epoch
   * @param termFloor no lease of a group that was forgotten had a higher term
   * @param producerEpochNext no producer whose name was forgotten had this epoch or a higher one
   */
  public record Counters(
      int nextTopicId,
      long nextProducerId,
      long activeMillis,
      long epochFloor,
      long termFloor,
      long producerEpochNext) {
    static final Counters FIRST = new Counters(1, 1, 0, 0, 0, 0);

    /** A topic id is positive, so it does not look like the beginning of a grown record. */
    static final Codec<Counters> CODEC =
        Codec.grown(Counters.class, FIRST, List.of(FeatureLevel.FORGOTTEN_NAMES));

    public Counters afterTopic() {
      return new Counters(
          nextTopicId + 1, nextProducerId, activeMillis, epochFloor, termFloor, producerEpochNext);
    }

    public Counters afterProducer() {
      return new Counters(
          nextTopicId, nextProducerId + 1, activeMillis, epochFloor, termFloor, producerEpochNext);
    }

    public Counters afterActive(long millis) {
      return new Counters(
          nextTopicId,
          nextProducerId,
          activeMillis + millis,
          epochFloor,
          termFloor,
          producerEpochNext);
    }

    public Counters aboveEpoch(long epoch) {
      return new Counters(
          nextTopicId,
          nextProducerId,
          activeMillis,
          Math.max(epochFloor, epoch),
          termFloor,
          producerEpochNext);
    }

    public Counters aboveTerm(long term) {
      return new Counters(
          nextTopicId,
          nextProducerId,
          activeMillis,
          epochFloor,
          Math.max(termFloor, term),
          producerEpochNext);
    }

    public Counters aboveProducerEpoch(int epoch) {
      return new Counters(
          nextTopicId,
          nextProducerId,
          activeMillis,
          epochFloor,
          termFloor,
          Math.max(producerEpochNext, epoch + 1L));
    }
  }

  public static MetaTables load(Store store) {
    MetaTables tables = new MetaTables();
    DataTables.each(
        store,
        Store.Table.META,
        (key, value) -> {
          ByteReader in = new ByteReader(value);
          switch (key[0]) {
            case 'T' -> tables.put(RecordCodec.TOPIC.read(in));
            case 'G' -> tables.put(RecordCodec.GROUP.read(in));
            case 'U' -> {
              String[] added = Keys.groupTopic(key);
              tables.addTopic(added[0], added[1], in.i64());
            }
            case 'L' -> tables.put(RecordCodec.GROUP_LEASE.read(in));
            case 'P' -> tables.put(NamedProducer.CODEC.read(in));
            case 'M' -> tables.moves.put(Keys.moveNumber(key), RecordCodec.MOVE.read(in));
            case 'A' -> tables.put(RecordCodec.NODE.read(in));
            case 'E' -> tables.placement.put(in.neededText(), Codec.TEXTS.read(in));
            case 'D' -> {
              AddedLogGroup added = RecordCodec.ADDED_GROUP.read(in);
              tables.addedGroups.put(added.index(), added);
            }
            case 'Q' -> tables.put(RecordCodec.QUOTA.read(in));
            case Keys.USER -> tables.put(RecordCodec.USER.read(in));
            case Keys.PAUSE -> tables.put(RecordCodec.PAUSE.read(in));
            case Keys.OWNER -> tables.owners.put(Keys.owned(key), in.neededText());
            case 'N' -> tables.counters = Counters.CODEC.read(in);
            case 'F' -> tables.featureLevel = in.i32();
            default -> throw new IllegalStateException("unknown record '" + (char) key[0] + "'");
          }
        });
    return tables;
  }

  /** An entry is going to be shown. On the applying thread. */
  public void begin(long entry) {
    index = entry;
  }

  /** An entry has been shown. On the applying thread. */
  public void end() {
    topicChanges.applied(index);
  }

  /** Which topics the latest entries have changed. */
  public TopicChanges topicChanges() {
    return topicChanges;
  }

  void put(TopicInfo topic) {
    topicChanges.changed(index, topic.id());
    topics.put(topic.id(), topic);
    topicIds.put(topic.name(), topic.id());
  }

  void remove(TopicInfo topic) {
    topicChanges.changed(index, topic.id());
    topicIds.remove(topic.name());
    topics.remove(topic.id());
  }

  /** The row of the group has all of its topics. */
  void put(GroupInfo group) {
    if (groups.put(group.name(), group) == null) {
      groupTags
          .computeIfAbsent(ProducerIds.tagOf(group.name()), any -> ConcurrentHashMap.newKeySet(1))
          .add(group.name());
    }
    topicRows.remove(group.name());
  }

  void removeGroup(String name) {
    groups.remove(name);
    groupTags.computeIfPresent(
        ProducerIds.tagOf(name),
        (tag, names) -> names.remove(name) && names.isEmpty() ? null : names);
    topicRows.remove(name);
  }

  void addTopic(String group, String topic, long activeMillis) {
    groups.computeIfPresent(group, (name, info) -> info.taking(List.of(topic), activeMillis));
    topicRows.computeIfAbsent(group, any -> new TreeSet<>()).add(topic);
  }

  /**
   * The topics that came to a group since its record was written, sorted: they have rows of their
   * own. Only for the applying thread.
   */
  public Set<String> topicRows(String group) {
    return topicRows.getOrDefault(group, Set.of());
  }

  void put(GroupLease lease) {
    groupLeases.put(lease.group(), lease);
  }

  void put(NamedProducer producer) {
    producers.put(producer.name(), producer);
    producerNames.put(producer.id(), producer.name());
  }

  void removeProducer(String name) {
    NamedProducer gone = producers.remove(name);
    if (gone != null) {
      producerNames.remove(gone.id());
    }
  }

  void put(Quota quota) {
    quotas.put(quota.key(), quota);
  }

  void put(ClusterUser user) {
    users.put(user.name(), user);
    usersVersion = new Object();
  }

  void removeUser(String name) {
    users.remove(name);
    usersVersion = new Object();
  }

  void put(Pause pause) {
    pauses.computeIfAbsent(pause.group(), any -> ConcurrentHashMap.newKeySet()).add(pause);
  }

  void remove(Pause pause) {
    pauses.computeIfPresent(
        pause.group(), (group, its) -> its.remove(pause) && its.isEmpty() ? null : its);
  }

  void put(ClusterNode node) {
    nodes.put(node.id(), node);
  }

  /** The nodes, by id; a live view. Empty until a node joins or leaves for the first time. */
  public Collection<ClusterNode> nodes() {
    return Collections.unmodifiableCollection(nodes.values());
  }

  /**
   * The ids of the nodes that are to vote in each log group, by its name; a live view. A log group
   * that is missing stays as it is.
   */
  public Map<String, List<String>> placement() {
    return Collections.unmodifiableMap(placement);
  }

  /** The data log groups that the cluster was not formed with, in their order; a live view. */
  public Collection<AddedLogGroup> addedGroups() {
    return Collections.unmodifiableCollection(addedGroups.values());
  }

  /** How many of the added data log groups work. Those that do not come after them. */
  public int openGroups() {
    return (int) addedGroups.values().stream().filter(AddedLogGroup::open).count();
  }

  /** The node of that id. */
  public @Nullable ClusterNode node(String id) {
    return nodes.get(id);
  }

  /** The topic of that name, in whatever state. */
  public @Nullable TopicInfo topic(@Nullable String name) {
    Integer id = name == null ? null : topicIds.get(name);
    return id == null ? null : topics.get(id);
  }

  public @Nullable TopicInfo topic(int id) {
    return topics.get(id);
  }

  /** All topics, in whatever state, by id; a live view. */
  public Collection<TopicInfo> topics() {
    return Collections.unmodifiableCollection(topics.values());
  }

  /** How many there are, in whatever state. */
  public int topicCount() {
    return topicIds.size();
  }

  /** The group of that name. */
  public @Nullable GroupInfo group(@Nullable String name) {
    return name == null ? null : groups.get(name);
  }

  /**
   * Names of the groups that read a topic, and have leases on its shards. A topic that is being
   * created is read also by those with a pattern that takes it in.
   */
  public List<String> readers(TopicInfo topic) {
    boolean fresh = topic.state() == TopicInfo.State.CREATING;
    return groups.values().stream()
        .filter(group -> !group.policy().isBroadcast())
        .filter(group -> group.reads(topic.name()) || fresh && takesIn(group, topic.name()))
        .map(GroupInfo::name)
        .toList();
  }

  /** Whether a pattern of the group takes in a new topic, and there is room for its name. */
  private static boolean takesIn(GroupInfo group, String topic) {
    return group.subscriptions().size() < Limits.TOPICS_MAX && group.takesIn(topic);
  }

  /** All groups, by name; a live view. */
  public Collection<GroupInfo> groups() {
    return Collections.unmodifiableCollection(groups.values());
  }

  /** Names of the groups with that tag, see {@link ProducerIds}; a live view. From any thread. */
  public Collection<String> groups(int tag) {
    return Collections.unmodifiableSet(groupTags.getOrDefault(tag, Set.of()));
  }

  /** The lease of a group: at term 0 if it was never granted. */
  public GroupLease groupLease(String group) {
    GroupLease lease = groupLeases.get(group);
    return lease == null ? GroupLease.none(group) : lease;
  }

  /** The leases of groups that were ever granted, by group; a live view. */
  public Collection<GroupLease> groupLeases() {
    return Collections.unmodifiableCollection(groupLeases.values());
  }

  /** The rebalance history. */
  public MoveTable moves() {
    return moves;
  }

  /** The producer of that name. */
  public @Nullable NamedProducer producer(String name) {
    return producers.get(name);
  }

  /** The name of a producer; null if it has none. From any thread. */
  public @Nullable String producerName(long id) {
    return producerNames.get(id);
  }

  /** All producers with a name, in no order; a live view. From any thread. */
  public Collection<NamedProducer> producers() {
    return Collections.unmodifiableCollection(producers.values());
  }

  public int namedProducers() {
    return producers.size();
  }

  /** Whether there is any quota. From any thread. */
  public boolean hasQuotas() {
    return !quotas.isEmpty();
  }

  public int quotaCount() {
    return quotas.size();
  }

  /** Whether there is a quota with that name of {@link SharedTable#row}. From any thread. */
  boolean hasQuota(String row) {
    QuotaKind kind = QuotaKind.values()[row.charAt(0) - '0'];
    return quotas.containsKey(new Quota.Key(kind, row.substring(1)));
  }

  /** Which user has made which row. From any thread. */
  public Owners owners() {
    return owners;
  }

  /** The quota of a producer, user, topic or group. From any thread. */
  public @Nullable Quota quota(QuotaKind kind, @Nullable String name) {
    return name == null || quotas.isEmpty() ? null : quotas.get(new Quota.Key(kind, name));
  }

  /** The same. */
  public @Nullable Quota quota(Quota.Key key) {
    return quotas.isEmpty() ? null : quotas.get(key);
  }

  /** All quotas, by kind and name; a copy. */
  public List<Quota> quotas() {
    return quotas.values().stream()
        .sorted(Comparator.comparing(Quota::kind).thenComparing(Quota::name))
        .toList();
  }

  /** The user of that name. From any thread. */
  public @Nullable ClusterUser user(String name) {
    return users.get(name);
  }

  /** All users, by name; a copy. From any thread. */
  public List<ClusterUser> users() {
    return List.copyOf(users.values());
  }

  /** Another object after each change of the users. From any thread. */
  public Object usersVersion() {
    return usersVersion;
  }

  /** The pauses of a group, in no order; a live view. From any thread. */
  public Set<Pause> pauses(String group) {
    return Collections.unmodifiableSet(pausesOf(group));
  }

  private Set<Pause> pausesOf(String group) {
    return pauses.isEmpty() ? Set.of() : pauses.getOrDefault(group, Set.of());
  }

  /** All pauses, in no order; a copy. */
  public List<Pause> pauses() {
    return pauses.values().stream().flatMap(Set::stream).toList();
  }

  /** What a command pauses or resumes; null: there is no such topic. */
  public @Nullable Pause pauseOf(MetaCommand.PauseGroup command) {
    if (command.topic() == null) {
      return new Pause(command.group(), Pause.ALL_TOPICS, command.shard());
    }
    TopicInfo topic = topic(command.topic());
    return topic == null ? null : new Pause(command.group(), topic.id(), command.shard());
  }

  /**
   * Whether there is a pause.
   *
   * @param row of {@link SharedTable#row(Pause)}
   */
  boolean hasPause(String row) {
    String[] parts = row.split(" ", 3);
    return pausesOf(parts[2])
        .contains(new Pause(parts[2], Integer.parseInt(parts[0]), Integer.parseInt(parts[1])));
  }

  /** How many pauses there are. From any thread. */
  public int pauseCount() {
    return pauses.values().stream().mapToInt(Set::size).sum();
  }

  /** Whether a group is paused as a whole. From any thread. */
  public boolean isPaused(String group) {
    return pausesOf(group).contains(Pause.of(group));
  }

  /**
   * Whether a group gets no messages from a shard: it is paused there, or the topic is being
   * deleted. From any thread.
   */
  public boolean isHeld(String group, Shard shard) {
    TopicInfo topic = topics.get(shard.topicId());
    boolean goes = topic != null && topic.state() == TopicInfo.State.DELETING;
    return goes || isPaused(group, shard);
  }

  /** Whether a group is paused on a shard. From any thread. */
  public boolean isPaused(String group, Shard shard) {
    Set<Pause> its = pausesOf(group);
    return !its.isEmpty()
        && (its.contains(Pause.of(group))
            || its.contains(new Pause(group, shard.topicId(), Pause.ALL_SHARDS))
            || its.contains(new Pause(group, shard.topicId(), shard.shard())));
  }

  /** The highest {@link FeatureLevel} that every node has said it reads. */
  public int featureLevel() {
    return featureLevel;
  }

  /** From any thread. */
  public Counters counters() {
    return counters;
  }
}
