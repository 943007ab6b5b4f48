package dev.evenkeel.protocol.wire;

import java.util.List;

/**
 * What kinds of log entries a build knows. Every entry names the level that a node needs to read it
 * (see {@link Entry}). A node that meets an entry above its own level stops. A leader appends an
 * entry only if every node of the cluster has said that it reads this level.
 *
 * <pre>
 * level   new in it
 * 1       all commands, and batches that are not compressed
 * 2, 3    nothing of their own: they belong to the data directories of former layouts
 * 4       compressed batches
 * 5       commits of many shards in one entry, and drains whose release grants the shard
 * 6       grants, drains and resets of many shards in one entry
 * 7       nodes that join and leave
 * 8       topics whose number of shards changes
 * 9       quotas, paused groups, delayed messages that are cancelled, and fetches with filters
 * 10      leases from the moment in which a group subscribes, leases that count crashes or say what
 *         was skipped, more topics than 10,000, or than 1,000 for a group, patterns of topics in a
 *         group's record, rows for topics that come to it, former ids of delayed messages that a
 *         reshard moved, bodies of which a part is left, what dropped shards had taken, pauses of a
 *         topic that last until it is removed, next epochs for the producers that have a name,
 *         groups that are coordinators, leases of groups that only the present dispatcher grants,
 *         dedups by name, which need no entries, ids of producers that say whose they are, and
 *         owners of rows that all users share, names of producers that are forgotten, and users that
 *         the cluster keeps
 * </pre>
 *
 * Level 1 begins with the layout of the data directory. A node refuses a directory of another
 * layout, so it never meets entries of former layouts.
 *
 * <p>A new command, a new field of a command, and another outcome of a known command all need a new
 * level, once the last one has been in a release. {@link CommandCodec} says which command needs
 * which.
 */
public final class FeatureLevel {
  /** The lowest level that an entry can need. */
  public static final int FIRST = 1;

  /**
   * What the release before this one reads, and so every node that a cluster can have. Nothing has
   * to be done in another way for nodes that read less. A log can still have entries of lower
   * levels.
   */
  public static final int OLDEST = 8;

  /** From here on batches may be compressed. */
  public static final int COMPRESSION = 4;

  /** From here on one entry may commit the positions of many shards. */
  public static final int COMMIT_MANY = 5;

  /** From here on a drain may name the run that the release grants the shard to. */
  public static final int RELEASE_TO = 5;

  /** From here on one entry may take steps of many shards. */
  public static final int TAKE_STEPS = 6;

  /** From here on nodes may join and leave. */
  public static final int CHANGING_NODES = 7;

  /** From here on the number of shards of a topic may change. */
  public static final int RESHARDING = 8;

  /** From here on fetches may have filters, and their answers say where messages are in the log. */
  public static final int PLACED_FETCHES = 9;

  /** From here on there are quotas. */
  public static final int QUOTAS = 9;

  /** From here on groups can be paused. */
  public static final int PAUSING = 9;

  /** From here on delayed messages can be cancelled. */
  public static final int CANCELLING = 9;

  /** From here on a group has leases from the moment in which it subscribes. */
  public static final int SUBSCRIPTIONS = 10;

  /**
   * From here on the dispatcher takes patterns of topics in heartbeats, and the log takes them into
   * the records of groups, and more topics than before.
   */
  public static final int TOPIC_PATTERNS = 10;

  /** From here on topics that come to a group's record have rows of their own. */
  public static final int ADDED_TOPICS = 10;

  /** From here on delayed messages that a reshard moved can be found by their former ids. */
  public static final int MOVED_IDS = 10;

  /** From here on only a part of an entry's body may be left. */
  public static final int PARTIAL_BODIES = 10;

  /** From here on leases count the owners that died without progress. */
  public static final int CRASHES = 10;

  /** From here on leases say what limits of the topic dropped before the group had consumed it. */
  public static final int SKIPPED = 10;

  /**
   * From here on log groups remember what shards had taken that are gone, and do not open such
   * shards again.
   */
  public static final int DROPPED_LAYOUTS = 10;

  /** From here on the pauses of a topic end with its removal, not when its deletion begins. */
  public static final int LASTING_PAUSES = 10;

  /** From here on a named producer gets its next epoch only if no other has taken its name. */
  public static final int CONTINUED_PRODUCERS = 10;

  /** From here on a group may be a coordinator: its policy has the strategy of steps. */
  public static final int COORDINATORS = 10;

  /** From here on grants of a group's lease name the term of the dispatcher, and need be of it. */
  public static final int DISPATCHER_TERMS = 10;

  /** From here on ids of producers say who may use them. */
  public static final int PRODUCER_OWNERS = 10;

  /** From here on the cluster keeps users. */
  public static final int USERS = 10;

  /** From here on the log knows which user has made rows that all users share. */
  public static final int TABLE_OWNERS = 10;

  /** From here on names of producers that nobody uses are forgotten: their ids are of the name. */
  public static final int FORGOTTEN_NAMES = 10;

  /** From here on every node answers which keys deduplication holds for long. */
  public static final int DEDUP_KEYS = 10;

  /**
   * From here on every node knows dedups by name, and does not free the keys of a program while
   * that one may still rely on them.
   */
  public static final int DEDUPS_BY_NAME = 10;

  /**
   * From which level on topics have each of the settings after the first three, in the order of
   * {@link dev.evenkeel.protocol.TopicConfig}.
   */
  static final List<Integer> TOPIC_SETTINGS = List.of();

  /** The highest level that this build reads. */
  public static final int NEWEST = 10;

  /**
   * System property that makes a node read less than its build can, though not less than {@link
   * #OLDEST}. The cluster then stays at that level, and the nodes can go back to the former
   * version.
   */
  public static final String MAX_PROPERTY = "evenkeel.feature.level.max";

  private FeatureLevel() {}

  /** The highest level that this node reads. */
  public static int reads() {
    return Math.max(OLDEST, Math.min(NEWEST, Integer.getInteger(MAX_PROPERTY, NEWEST)));
  }
}
