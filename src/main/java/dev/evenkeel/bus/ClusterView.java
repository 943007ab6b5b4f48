package dev.evenkeel.bus;

import dev.evenkeel.api.RecordJson;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.ShardGroups;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The leaders, nodes and topics of a cluster as one broker sees them. It may be a little old; if it
 * names a wrong leader, the answer of that node corrects it.
 *
 * @param cluster the cluster's id
 * @param node the node that answered
 * @param metaLeader node id that leads meta, which is also the active dispatcher; null if unknown
 * @param dataLeaders leader of each data group; null entries if unknown
 * @param nodes all node ids
 * @param topics active topics
 * @param metaTerm Raft term of {@code metaLeader}; 0 if unknown
 * @param dataTerms Raft term of each of {@code dataLeaders}; empty if unknown
 * @param caughtUp false if the node has started and no leader has told it yet what is committed;
 *     then it names no topics
 * @param metaIndex the last entry of the meta log that the topics come from; -1 if unknown
 * @param places where each node takes connections of clients; empty as long as no node has joined
 *     or left
 * @param formedGroups how many data groups the cluster was formed with, which are the first ones; 0
 *     stands for all
 * @param featureLevel what all nodes read, see {@link dev.evenkeel.protocol.wire.FeatureLevel}; 0:
 *     unknown
 * @param visibleTo stands for the permissions of the user who sees only a part of the topics; 0:
 *     the view has all
 */
public record ClusterView(
    String cluster,
    String node,
    String metaLeader,
    List<String> dataLeaders,
    List<String> nodes,
    List<TopicInfo> topics,
    long metaTerm,
    List<Long> dataTerms,
    boolean caughtUp,
    long metaIndex,
    List<NodePlace> places,
    int formedGroups,
    int featureLevel,
    int visibleTo) {
  public ClusterView {
    formedGroups = formedGroups == 0 ? dataLeaders.size() : formedGroups;
  }

  private static final String LAID_OUT = "topicsWithLayouts";
  private static final String ADDED_LEADERS = "addedDataLeaders";
  private static final String GONE = "topicsGone";

  /** Field of a view that only a part of the topics is in. */
  public static final String VISIBLE_TO = "visibleTo";

  /** The fields that hold topics, with their names. */
  public static final List<String> TOPICS = List.of("topics", LAID_OUT);

  /** Number of the meta log group; data groups are numbered from 0. */
  public static final int META = -1;

  private static final RecordJson<TopicConfig> CONFIG =
      new RecordJson<>(TopicConfig.class).former(TopicConfig.DEFAULT);

  /** Only active topics are in a view. */
  private static final RecordJson<TopicInfo> TOPIC =
      new RecordJson<>(TopicInfo.class)
          .form("config", CONFIG::writeTo, CONFIG::read)
          .form("state", (json, state) -> {}, json -> TopicInfo.State.ACTIVE)
          .form("layouts", ClusterView::writeLayouts, ClusterView::layouts)
          .form("dropped", ClusterView::writeDropped, ClusterView::dropped)
          .form("next", (json, next) -> {}, json -> null);

  private static final RecordJson<TopicInfo.Layout> LAYOUT =
      new RecordJson<>(TopicInfo.Layout.class)
          .list("groups", Integer.MAX_VALUE, group -> group, JsonArray::getInteger);

  private static final RecordJson<NodePlace> PLACE = new RecordJson<>(NodePlace.class);

  private static final RecordJson<ClusterView> JSON =
      new RecordJson<>(ClusterView.class)
          .<List<String>>form(
              "dataLeaders",
              (json, leaders) -> json.put("dataLeaders", new JsonArray(leaders)),
              ClusterView::leaders)
          .list("nodes", Integer.MAX_VALUE, node -> node, JsonArray::getString)
          .form("topics", ClusterView::writeTopics, ClusterView::topics)
          .former("metaTerm", 0L)
          .list("dataTerms", Integer.MAX_VALUE, term -> term, JsonArray::getLong)
          .former("dataTerms", List.of())
          .former("caughtUp", true)
          .former("metaIndex", -1L)
          .list("places", Integer.MAX_VALUE, PLACE::write, PLACE::readItem)
          .former("places", List.of())
          .form(
              "formedGroups", (json, formed) -> {}, json -> json.getJsonArray("dataLeaders").size())
          .unless("featureLevel", 0)
          .unless(VISIBLE_TO, 0);

  /**
   * Topics with several layouts, or with shards in added log groups, are in a list of their own,
   * which clients of versions before them do not read: to those the topic does not exist. They
   * would send messages to wrong shards or nodes.
   */
  private static void writeTopics(JsonObject json, List<TopicInfo> topics) {
    JsonArray plain = new JsonArray();
    JsonArray laidOut = new JsonArray();
    for (TopicInfo topic : topics) {
      (isPlain(topic.layouts()) ? plain : laidOut).add(TOPIC.write(topic));
    }
    json.put("topics", plain);
    if (!laidOut.isEmpty()) {
      json.put(LAID_OUT, laidOut);
    }
  }

  private static boolean isPlain(List<TopicInfo.Layout> layouts) {
    return layouts.size() == 1 && layouts.get(0).first() == 0 && layouts.get(0).groups().isEmpty();
  }

  private static List<TopicInfo> topics(JsonObject json) {
    List<TopicInfo> topics = new ArrayList<>();
    for (JsonArray each :
        List.of(json.getJsonArray("topics"), json.getJsonArray(LAID_OUT, new JsonArray()))) {
      for (int i = 0; i < each.size(); i++) {
        topics.add(TOPIC.readItem(each, i));
      }
    }
    topics.sort(Comparator.comparingInt(TopicInfo::id));
    return List.copyOf(topics);
  }

  /** The number of open shards, and the layouts if it does not follow from that. */
  private static void writeLayouts(JsonObject json, List<TopicInfo.Layout> layouts) {
    TopicInfo.Layout open = layouts.get(layouts.size() - 1);
    json.put("shards", open.shards());
    if (!isPlain(layouts)) {
      json.put("layouts", all(layouts));
    }
  }

  private static List<TopicInfo.Layout> layouts(JsonObject json) {
    if (!json.containsKey("layouts")) {
      int shards = json.getInteger("shards");
      return List.of(new TopicInfo.Layout(0, shards, json.getLong("createdMillis")));
    }
    return layouts(json.getJsonArray("layouts"));
  }

  private static void writeDropped(JsonObject json, List<TopicInfo.Layout> dropped) {
    if (!dropped.isEmpty()) {
      json.put("dropped", all(dropped));
    }
  }

  private static List<TopicInfo.Layout> dropped(JsonObject json) {
    return layouts(json.getJsonArray("dropped", new JsonArray()));
  }

  private static JsonArray all(List<TopicInfo.Layout> layouts) {
    JsonArray all = new JsonArray();
    layouts.forEach(each -> all.add(LAYOUT.write(each)));
    return all;
  }

  private static List<TopicInfo.Layout> layouts(JsonArray all) {
    List<TopicInfo.Layout> layouts = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      layouts.add(LAYOUT.readItem(all, i));
    }
    return List.copyOf(layouts);
  }

  /** The leader of a data group or of {@link #META}; null if unknown, or if there is no such. */
  public String leader(int group) {
    if (group == META) {
      return metaLeader;
    }
    return group < dataLeaders.size() ? dataLeaders.get(group) : null;
  }

  /** The term in which {@link #leader} holds; 0 if unknown. */
  public long term(int group) {
    if (group == META) {
      return metaTerm;
    }
    return group < dataTerms.size() ? dataTerms.get(group) : 0;
  }

  /**
   * A copy of this view with another leader of a log group; this view if there is no such group.
   */
  public ClusterView withLeader(int group, String leader, long term) {
    if (group >= dataLeaders.size()) {
      return this;
    }
    if (group == META) {
      return JSON.with(JSON.with(this, "metaLeader", leader), "metaTerm", term);
    }
    List<String> leaders = new ArrayList<>(dataLeaders);
    leaders.set(group, leader);
    List<Long> terms = new ArrayList<>();
    for (int i = 0; i < dataLeaders.size(); i++) {
      terms.add(i == group ? term : term(i));
    }
    ClusterView view = JSON.with(this, "dataLeaders", Collections.unmodifiableList(leaders));
    return JSON.with(view, "dataTerms", List.copyOf(terms));
  }

  /**
   * A copy of this view in which nothing is older than in {@code known}: a node that was away may
   * name former leaders and topics. It takes a leader from {@code known} if that one has a later
   * term, or has the same term and this view knows no leader.
   */
  public ClusterView notOlderThan(ClusterView known) {
    ClusterView merged = hasOlderTopics(known) ? withGroupsOf(known).withTopicsOf(known) : this;
    for (int group = META; group < merged.dataLeaders.size(); group++) {
      long knownTerm = known.term(group);
      long term = merged.term(group);
      boolean later = knownTerm > term;
      boolean sameButUnknown = knownTerm == term && knownTerm > 0 && merged.leader(group) == null;
      if (later || sameButUnknown) {
        merged = merged.withLeader(group, known.leader(group), knownTerm);
      }
    }
    return merged;
  }

  private boolean hasOlderTopics(ClusterView known) {
    return !caughtUp
        || metaIndex >= 0 && metaIndex < known.metaIndex && cluster.equals(known.cluster);
  }

  /** With the data groups that {@code known} has besides. */
  private ClusterView withGroupsOf(ClusterView known) {
    int mine = dataLeaders.size();
    if (known.dataLeaders.size() <= mine) {
      return this;
    }
    List<String> leaders = new ArrayList<>(dataLeaders);
    leaders.addAll(known.dataLeaders.subList(mine, known.dataLeaders.size()));
    return JSON.with(this, "dataLeaders", Collections.unmodifiableList(leaders));
  }

  private ClusterView withTopicsOf(ClusterView known) {
    ClusterView merged = JSON.with(this, "topics", known.topics);
    return JSON.with(JSON.with(merged, "caughtUp", known.caughtUp), "metaIndex", known.metaIndex);
  }

  /** The leader of a shard, or null if unknown. */
  public String leaderOf(Shard shard) {
    return dataLeaders.isEmpty() ? null : leader(shardGroups().of(shard));
  }

  /** Which data group holds which shard. */
  public ShardGroups shardGroups() {
    return ShardGroups.of(formedGroups, topics);
  }

  /** The active topic of that name, or null. */
  public TopicInfo topic(String name) {
    for (TopicInfo topic : topics) {
      if (topic.name().equals(name)) {
        return topic;
      }
    }
    return null;
  }

  /**
   * The active topic of that name.
   *
   * @throws RefusedException as {@link #missing} says
   */
  public TopicInfo existing(String name) {
    TopicInfo topic = topic(name);
    if (topic == null) {
      throw missing(name);
    }
    return topic;
  }

  /**
   * Why {@link #topic} does not know that name: UNKNOWN_TOPIC, or UNAVAILABLE if the topic may
   * exist all the same.
   */
  public RefusedException missing(String name) {
    return caughtUp
        ? new RefusedException(
            Refusal.UNKNOWN_TOPIC, "there is no topic '" + name + "': create it first")
        : unknownTopics();
  }

  /** The refusal UNAVAILABLE for a view that is not {@link #caughtUp}. */
  public RefusedException unknownTopics() {
    return new RefusedException(
        Refusal.UNAVAILABLE,
        "node "
            + node
            + " does not know the topics yet: it has just started and has not heard from the leader"
            + " of the meta log; try again, and start the other nodes if that does not help");
  }

  /**
   * Leaders of the data groups that the cluster was not formed with are in a list of their own:
   * clients of versions before them count the groups by the first list.
   */
  public JsonObject toJson() {
    JsonObject json = JSON.write(this);
    if (formedGroups < dataLeaders.size()) {
      json.put(ADDED_LEADERS, new JsonArray(dataLeaders.subList(formedGroups, dataLeaders.size())));
      json.put("dataLeaders", new JsonArray(dataLeaders.subList(0, formedGroups)));
    }
    return json;
  }

  /**
   * The answer to a question with {@link ViewSince}: of the topics, this view has only those that
   * have changed.
   *
   * @param gone numbers of the topics that have changed and are not active
   */
  public JsonObject toJson(Set<Integer> gone) {
    return toJson().put(GONE, new JsonArray(List.copyOf(gone)));
  }

  public static ClusterView fromJson(JsonObject json) {
    return JSON.read(json);
  }

  /**
   * The answer to a question with {@link ViewSince}.
   *
   * @param known what the asker knew; null: nothing
   */
  public static ClusterView fromJson(JsonObject json, ClusterView known) {
    ClusterView view = JSON.read(json);
    JsonArray gone = json.getJsonArray(GONE);
    if (gone == null || known == null) {
      return view;
    }
    Set<Integer> without = new HashSet<>();
    gone.forEach(id -> without.add((Integer) id));
    return JSON.with(view, "topics", merged(known.topics, view.topics, without));
  }

  /** Both lists are sorted by number. Keeps the list that is known if nothing has changed. */
  private static List<TopicInfo> merged(
      List<TopicInfo> known, List<TopicInfo> changed, Set<Integer> gone) {
    if (changed.isEmpty() && gone.isEmpty()) {
      return known;
    }
    List<TopicInfo> merged = new ArrayList<>(known.size() + changed.size());
    int next = 0;
    for (TopicInfo topic : known) {
      while (next < changed.size() && changed.get(next).id() < topic.id()) {
        merged.add(changed.get(next++));
      }
      if (next < changed.size() && changed.get(next).id() == topic.id()) {
        merged.add(changed.get(next++));
      } else if (gone.isEmpty() || !gone.contains(topic.id())) {
        merged.add(topic);
      }
    }
    merged.addAll(changed.subList(next, changed.size()));
    return Collections.unmodifiableList(merged);
  }

  private static JsonArray addedLeaders(JsonObject json) {
    return json.getJsonArray(ADDED_LEADERS, new JsonArray());
  }

  private static List<String> leaders(JsonObject json) {
    List<String> leaders = new ArrayList<>();
    for (JsonArray each : List.of(json.getJsonArray("dataLeaders"), addedLeaders(json))) {
      for (int i = 0; i < each.size(); i++) {
        leaders.add(each.getString(i));
      }
    }
    return Collections.unmodifiableList(leaders);
  }
}
