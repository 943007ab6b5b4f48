package dev.evenkeel.sim;

import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.client.ConsumerOptions.Mode;
import dev.evenkeel.model.Kind;
import dev.evenkeel.model.UserModel;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;

/** A group of users, of a kind that the simulation can play. */
final class UserGroup implements SimGroup {
  static final long MEMBER_TIMEOUT_MILLIS = 6_000;
  private static final long HEARTBEAT_MILLIS = 700;
  private static final int FETCH_WAIT_MILLIS = 10_000;

  final UserModel.Group group;
  private final UserWorld world;
  private final Ledger ledger;

  /** The topic that its handlers publish to; null: they publish nothing. */
  final TopicInfo outputs;

  /** Since when it has had no members, or -1; virtual time. */
  long aloneSince = -1;

  UserGroup(UserWorld world, UserModel.Group group, Ledger ledger, TopicInfo outputs) {
    this.world = world;
    this.group = group;
    this.ledger = ledger;
    this.outputs = outputs;
  }

  /** Whether the simulation has all that belongs to it. */
  static boolean plays(Kind kind) {
    return (kind.mode() == Mode.SHARDED || kind.mode() == Mode.SINGLETON)
        && kind.handling() != Kind.Handling.BATCHES
        && kind.dedup() == Dedup.OFF
        && kind.limit() == Kind.Limit.NONE;
  }

  /** The kind that the seed draws, of those that can be played. */
  static Kind kind(long seed) {
    long drawn = seed;
    while (!plays(Kind.of(drawn))) {
      drawn++;
    }
    return Kind.of(drawn);
  }

  Kind kind() {
    return group.kind;
  }

  @Override
  public String name() {
    return group.name;
  }

  @Override
  public GroupPolicy policy() {
    boolean one = kind().mode() == Mode.SINGLETON;
    return GroupPolicy.of(one ? GroupPolicy.MODE_SINGLETON : GroupPolicy.MODE_SHARDED);
  }

  @Override
  public StartAt start() {
    return kind().earliest() ? StartAt.EARLIEST : StartAt.LATEST;
  }

  @Override
  public Ledger ledger() {
    return ledger;
  }

  @Override
  public ConsumerOptions options() {
    return kind()
        .options(name(), "", List.of())
        .setHeartbeatMillis(HEARTBEAT_MILLIS)
        .setMemberTimeoutMillis(MEMBER_TIMEOUT_MILLIS)
        .setLockTimeMillis(World.LOCK_TIME_MILLIS)
        .setFetchWaitMillis(FETCH_WAIT_MILLIS)
        .setParallel(1 + world.random.nextInt(20))
        .setPendingMessagesMax(1 + world.random.nextInt(300))
        .setCommitMillis(50 + world.random.nextInt(5_000))
        .setCommitMessages(1 + world.random.nextInt(1_000));
  }

  @Override
  public boolean keepsState() {
    return kind().keepsState();
  }

  @Override
  public boolean givesState() {
    return kind().givesState();
  }

  @Override
  public boolean publishes() {
    return kind().publishes() || kind().commitsState();
  }

  @Override
  public long publisher(Shard shard) {
    return 0;
  }

  @Override
  public SimHandling handling(SimConsumer consumer, boolean keepsState) {
    return new UserHandling(world, this, consumer);
  }

  @Override
  public String toString() {
    return group.toString();
  }
}
