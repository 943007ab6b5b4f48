package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.wire.Codec.BLOB;
import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.INTS;
import static dev.evenkeel.protocol.wire.Codec.NUMBERS;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.Codec.TEXTS;
import static dev.evenkeel.protocol.wire.Codec.absent;
import static dev.evenkeel.protocol.wire.FeatureLevel.CANCELLING;
import static dev.evenkeel.protocol.wire.FeatureLevel.CHANGING_NODES;
import static dev.evenkeel.protocol.wire.FeatureLevel.COMMIT_MANY;
import static dev.evenkeel.protocol.wire.FeatureLevel.CONTINUED_PRODUCERS;
import static dev.evenkeel.protocol.wire.FeatureLevel.CRASHES;
import static dev.evenkeel.protocol.wire.FeatureLevel.DISPATCHER_TERMS;
import static dev.evenkeel.protocol.wire.FeatureLevel.DROPPED_LAYOUTS;
import static dev.evenkeel.protocol.wire.FeatureLevel.FORGOTTEN_NAMES;
import static dev.evenkeel.protocol.wire.FeatureLevel.PAUSING;
import static dev.evenkeel.protocol.wire.FeatureLevel.QUOTAS;
import static dev.evenkeel.protocol.wire.FeatureLevel.RELEASE_TO;
import static dev.evenkeel.protocol.wire.FeatureLevel.RESHARDING;
import static dev.evenkeel.protocol.wire.FeatureLevel.SUBSCRIPTIONS;
import static dev.evenkeel.protocol.wire.FeatureLevel.TABLE_OWNERS;
import static dev.evenkeel.protocol.wire.FeatureLevel.TAKE_STEPS;
import static dev.evenkeel.protocol.wire.FeatureLevel.TOPIC_PATTERNS;
import static dev.evenkeel.protocol.wire.FeatureLevel.USERS;
import static dev.evenkeel.protocol.wire.RecordCodec.DRAIN;
import static dev.evenkeel.protocol.wire.RecordCodec.DRAIN_TO_HEIR;
import static dev.evenkeel.protocol.wire.RecordCodec.GROUP_PATTERN;
import static dev.evenkeel.protocol.wire.RecordCodec.MOVES;
import static dev.evenkeel.protocol.wire.RecordCodec.NODE;
import static dev.evenkeel.protocol.wire.RecordCodec.POLICY;
import static dev.evenkeel.protocol.wire.RecordCodec.QUOTA;
import static dev.evenkeel.protocol.wire.RecordCodec.SHARD;
import static dev.evenkeel.protocol.wire.RecordCodec.START;
import static dev.evenkeel.protocol.wire.RecordCodec.TOPIC_CONFIG;

import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
import dev.evenkeel.protocol.Refusal;
import java.util.List;

/**
 * Bytes of commands: a tag, then the fields. Tags are never used again for another meaning, so that
 * an old log stays readable. A new tag belongs to a {@link FeatureLevel}, and a tag never gets
 * another field. Tags that are missing in the order belonged to former layouts of the data
 * directory. Clients of former versions send commands too, so their tags stay.
 */
public final class CommandCodec {
  private static final Codec<Outcome.Way> WAY = Codec.constant(Outcome.Way.class);

  /** Ways on which the message leaves the owner's window. */
  private static final Codec<Outcome.Way> LEAVES =
      Codec.of(WAY::write, WAY::read, way -> way != Outcome.Way.HELD);

  /**
   * Forms 4 and 5 have no copy of a message that leaves the window. Nodes that need one do not read
   * them, so they refuse what they could not keep.
   */
  private static final Codec<Outcome> OUTCOME =
      new Tagged<Outcome>("outcome")
          .add(4, Outcome.Failed.class, I64, I32, LEAVES, I64, I64, TEXT, absent(null))
          .add(5, Outcome.Parked.class, I64, I64, absent(null))
          .add(1, Outcome.Failed.class)
          .add(2, Outcome.Parked.class)
          .add(3, Outcome.Settled.class)
          .since(CRASHES, 6, Outcome.Begun.class)
          .since(CRASHES, 7, Outcome.Died.class)
          .completeFor(Outcome.class);

  /** The command says the level itself. */
  private static final int ITS_OWN = Integer.MIN_VALUE;

  /** A level, which whoever raises the cluster to it must read. */
  private static final Codec<Integer> LEVEL =
      new Codec<>() {
        @Override
        public void write(Bytes out, Integer level) {
          out.i32(level);
        }

        @Override
        public Integer read(ByteReader in) {
          return in.i32();
        }

        @Override
        public int level(Integer level) {
          return level;
        }
      };

  /** Any command but {@link MetaCommand.ByUser}, so that it ends. */
  private static final Codec<MetaCommand> PLAIN_META =
      new Codec<>() {
        @Override
        public void write(Bytes out, MetaCommand command) {
          META.write(out, command);
        }

        @Override
        public MetaCommand read(ByteReader in) {
          if (META.next(in).equals(MetaCommand.ByUser.class)) {
            throw new MalformedException(Refusal.INVALID, "a command of two users");
          }
          return META.read(in);
        }

        @Override
        public int level(MetaCommand command) {
          return META.level(command);
        }
      };

  private static final Codec<List<GroupPattern>> PATTERNS = Codec.list(GROUP_PATTERN);
  private static final Codec<List<GroupPattern>> NO_PATTERNS = absent(List.of());

  private static final Codec<ClusterUser> PERHAPS_USER = Codec.nullable(RecordCodec.USER);

  private static final Tagged<MetaCommand> META =
      new Tagged<MetaCommand>("command")
          .add(1, MetaCommand.CreateTopic.class, TEXT, I32, TOPIC_CONFIG)
          .add(2, MetaCommand.ActivateTopic.class, I32, absent(null))
          .add(3, MetaCommand.ConfigureTopic.class, I32, TOPIC_CONFIG)
          .add(4, MetaCommand.DeleteTopic.class, TEXT)
          .add(8, MetaCommand.ForgetGroup.class, TEXT)
          .add(9, MetaCommand.RegisterProducer.class, TEXT)
          .add(11, MetaCommand.RecordMoves.class, MOVES)
          .add(
              12,
              MetaCommand.DeclareGroup.class,
              TEXT,
              POLICY,
              TEXTS,
              START,
              BOOL,
              TEXT,
              NO_PATTERNS)
          .add(13, MetaCommand.GrantGroupLease.class, TEXT, TEXT, TEXT, I64, absent(0L))
          .add(14, MetaCommand.ReleaseGroupLease.class, TEXT, TEXT, I64)
          .add(15, MetaCommand.RemoveTopic.class, I32, I64)
          .add(16, MetaCommand.SeeGroup.class, TEXT, TEXTS, NO_PATTERNS)
          .add(17, MetaCommand.AddActiveTime.class, I64)
          .since(ITS_OWN, 18, MetaCommand.RaiseFeatureLevel.class, LEVEL)
          .add(19, MetaCommand.ForgetTopic.class, TEXT, TEXT)
          .since(CHANGING_NODES, 20, MetaCommand.PutNodes.class, Codec.list(NODE))
          .since(CHANGING_NODES, 21, MetaCommand.RemoveNode.class, TEXT)
          .since(CHANGING_NODES, 22, MetaCommand.PlaceLogGroup.class, TEXT, TEXTS)
          .since(RESHARDING, 23, MetaCommand.ReshardTopic.class, TEXT, I32)
          .since(RESHARDING, 24, MetaCommand.OpenLayout.class, I32, absent(null))
          .since(RESHARDING, 25, MetaCommand.ForgetLayout.class, I32, I32)
          .since(CHANGING_NODES, 26, MetaCommand.AddLogGroup.class, I32, TEXTS)
          .since(CHANGING_NODES, 27, MetaCommand.OpenLogGroup.class, I32)
          .since(QUOTAS, 28, MetaCommand.SetQuota.class, QUOTA)
          .since(PAUSING, 29, MetaCommand.PauseGroup.class, TEXT, TEXT, I32, BOOL)
          .since(SUBSCRIPTIONS, 30, MetaCommand.ActivateTopic.class, I32, TEXTS)
          .since(SUBSCRIPTIONS, 31, MetaCommand.OpenLayout.class, I32, TEXTS)
          .since(
              TOPIC_PATTERNS,
              32,
              MetaCommand.DeclareGroup.class,
              TEXT,
              POLICY,
              TEXTS,
              START,
              BOOL,
              TEXT,
              PATTERNS)
          .since(TOPIC_PATTERNS, 33, MetaCommand.SeeGroup.class, TEXT, TEXTS, PATTERNS)
          .since(TOPIC_PATTERNS, 34, MetaCommand.ForgetPattern.class, TEXT, GROUP_PATTERN)
          .since(CONTINUED_PRODUCERS, 35, MetaCommand.ContinueProducer.class, TEXT, I32)
          .since(
              DISPATCHER_TERMS, 36, MetaCommand.GrantGroupLease.class, TEXT, TEXT, TEXT, I64, I64)
          .since(USERS, 37, MetaCommand.ChangeUser.class, PERHAPS_USER, PERHAPS_USER)
          .since(FORGOTTEN_NAMES, 38, MetaCommand.TendProducers.class, TEXTS, TEXTS)
          .since(TABLE_OWNERS, 39, MetaCommand.ByUser.class, TEXT, PLAIN_META)
          .completeFor(MetaCommand.class);

  private static final Codec<DataCommand.Step> STEP =
      new Tagged<DataCommand.Step>("step")
          .add(5, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN)
          .since(RELEASE_TO, 42, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN_TO_HEIR)
          .add(33, DataCommand.ResetLease.class, TEXT, SHARD, I64, START)
          .add(36, DataCommand.Grant.class, TEXT, SHARD, TEXT, TEXT, I64, START, I64, I64)
          .since(SUBSCRIPTIONS, 48, DataCommand.OpenLease.class, TEXT, SHARD, START)
          .completeFor(DataCommand.Step.class);

  private static final Tagged<DataCommand> DATA =
      new Tagged<DataCommand>("command")
          .add(2, DataCommand.DropShards.class, I32)
          .add(3, DataCommand.ConfigureShards.class, I32, TOPIC_CONFIG)
          .add(5, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN)
          .since(RELEASE_TO, 42, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN_TO_HEIR)
          .add(
              6,
              DataCommand.Commit.class,
              TEXT,
              SHARD,
              I64,
              I64,
              absent(-1L, stateOffset -> stateOffset < 0),
              absent(null))
          .add(7, DataCommand.Release.class, TEXT, SHARD, I64, I64, I64, BLOB)
          .add(9, DataCommand.OpenProducer.class, I64, I32, absent(0))
          .add(10, DataCommand.Retain.class)
          .add(11, DataCommand.Commit.class, TEXT, SHARD, I64, I64, I64, absent(null))
          .add(13, DataCommand.RecordOutcomes.class, TEXT, SHARD, I64, Codec.list(OUTCOME))
          .add(14, DataCommand.ReplayDeadLetters.class, TEXT, SHARD, NUMBERS)
          .add(15, DataCommand.DropDeadLetters.class, TEXT, SHARD, NUMBERS)
          .add(
              16,
              DataCommand.OpenShards.class,
              I32,
              TEXT,
              INTS,
              TOPIC_CONFIG,
              I64,
              absent(List.of()),
              absent(0, from -> true))
          .add(20, DataCommand.DeliverDue.class, I32, I32)
          .add(32, DataCommand.Commit.class, TEXT, SHARD, I64, I64, I64, BLOB)
          .add(33, DataCommand.ResetLease.class, TEXT, SHARD, I64, START)
          .add(34, DataCommand.SetPublisher.class, TEXT, SHARD, I64, I64)
          .add(35, DataCommand.OpenPublisher.class, I64, I32, TEXT, SHARD, BOOL)
          .add(36, DataCommand.Grant.class, TEXT, SHARD, TEXT, TEXT, I64, START, I64, I64)
          .add(38, DataCommand.ForgetLeases.class, TEXT, I64, I32)
          .since(ITS_OWN, 39, DataCommand.RaiseFeatureLevel.class, LEVEL)
          .add(40, DataCommand.FillLog.class, BLOB)
          .since(
              COMMIT_MANY,
              41,
              DataCommand.CommitMany.class,
              Codec.list(
                  Codec.record(DataCommand.CommitMany.Position.class, TEXT, SHARD, I64, I64, I64)))
          .since(TAKE_STEPS, 43, DataCommand.TakeSteps.class, Codec.list(STEP))
          .since(RESHARDING, 44, DataCommand.SealShards.class, I32, I32)
          .since(
              RESHARDING,
              45,
              DataCommand.DropSealed.class,
              I32,
              I32,
              absent(DataCommand.DropSealed.EVERYTHING))
          .since(RESHARDING, 46, DataCommand.DropDelayed.class, SHARD, I64, I32)
          .since(
              CANCELLING, 47, DataCommand.CancelDelayed.class, SHARD, I64, I64, I32, I64, I32, BLOB)
          .since(SUBSCRIPTIONS, 48, DataCommand.OpenLease.class, TEXT, SHARD, START)
          .since(
              SUBSCRIPTIONS,
              49,
              DataCommand.OpenShards.class,
              I32,
              TEXT,
              INTS,
              TOPIC_CONFIG,
              I64,
              TEXTS,
              I32)
          .since(DROPPED_LAYOUTS, 50, DataCommand.DropSealed.class, I32, I32, I32)
          .since(TABLE_OWNERS, 51, DataCommand.OpenProducer.class, I64, I32, I32)
          .completeFor(DataCommand.class);

  private CommandCodec() {}

  public static void write(Bytes out, MetaCommand command) {
    META.write(out, command);
  }

  public static void write(Bytes out, DataCommand command) {
    DATA.write(out, command);
  }

  /** Reads a command that takes all that is left. */
  public static MetaCommand meta(ByteReader in) {
    return META.decodeAll(in.rest());
  }

  /** Reads a command that takes all that is left. */
  public static DataCommand data(ByteReader in) {
    return DATA.decodeAll(in.rest());
  }

  /** The type of a command, which is not read. */
  public static Class<? extends DataCommand> dataType(ByteReader in) {
    return DATA.next(in);
  }

  /** The {@link FeatureLevel} that a node needs to read the command. */
  static int level(MetaCommand command) {
    return META.level(command);
  }

  /** The {@link FeatureLevel} that a node needs to read the command. */
  static int level(DataCommand command) {
    return DATA.level(command);
  }
}
