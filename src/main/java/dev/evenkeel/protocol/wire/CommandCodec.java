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

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Outcome;
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
          .add(6, Outcome.Begun.class)
          .add(7, Outcome.Died.class)
          .completeFor(Outcome.class);

  private static final Codec<List<GroupPattern>> PATTERNS = Codec.list(GROUP_PATTERN);
  private static final Codec<List<GroupPattern>> NO_PATTERNS = absent(List.of());

  private static final Codec<MetaCommand> META =
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
          .add(13, MetaCommand.GrantGroupLease.class, TEXT, TEXT, TEXT, I64)
          .add(14, MetaCommand.ReleaseGroupLease.class, TEXT, TEXT, I64)
          .add(15, MetaCommand.RemoveTopic.class, I32, I64)
          .add(16, MetaCommand.SeeGroup.class, TEXT, TEXTS, NO_PATTERNS)
          .add(17, MetaCommand.AddActiveTime.class, I64)
          .add(18, MetaCommand.RaiseFeatureLevel.class, I32)
          .add(19, MetaCommand.ForgetTopic.class, TEXT, TEXT)
          .add(20, MetaCommand.PutNodes.class, Codec.list(NODE))
          .add(21, MetaCommand.RemoveNode.class, TEXT)
          .add(22, MetaCommand.PlaceGroup.class, TEXT, TEXTS)
          .add(23, MetaCommand.ReshardTopic.class, TEXT, I32)
          .add(24, MetaCommand.OpenLayout.class, I32, absent(null))
          .add(25, MetaCommand.ForgetLayout.class, I32, I32)
          .add(26, MetaCommand.AddGroup.class, I32, TEXTS)
          .add(27, MetaCommand.OpenGroup.class, I32)
          .add(28, MetaCommand.SetQuota.class, QUOTA)
          .add(29, MetaCommand.PauseGroup.class, TEXT, TEXT, I32, BOOL)
          .add(30, MetaCommand.ActivateTopic.class, I32, TEXTS)
          .add(31, MetaCommand.OpenLayout.class, I32, TEXTS)
          .add(32, MetaCommand.DeclareGroup.class, TEXT, POLICY, TEXTS, START, BOOL, TEXT, PATTERNS)
          .add(33, MetaCommand.SeeGroup.class, TEXT, TEXTS, PATTERNS)
          .add(34, MetaCommand.ForgetPattern.class, TEXT, GROUP_PATTERN)
          .add(35, MetaCommand.ContinueProducer.class, TEXT, I32)
          .completeFor(MetaCommand.class);

  private static final Codec<DataCommand.Step> STEP =
      new Tagged<DataCommand.Step>("step")
          .add(5, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN)
          .add(42, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN_TO_HEIR)
          .add(33, DataCommand.ResetLease.class, TEXT, SHARD, I64, START)
          .add(36, DataCommand.Grant.class, TEXT, SHARD, TEXT, TEXT, I64, START, I64, I64)
          .add(48, DataCommand.OpenLease.class, TEXT, SHARD, START)
          .completeFor(DataCommand.Step.class);

  private static final Tagged<DataCommand> DATA =
      new Tagged<DataCommand>("command")
          .add(2, DataCommand.DropShards.class, I32)
          .add(3, DataCommand.ConfigureShards.class, I32, TOPIC_CONFIG)
          .add(5, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN)
          .add(42, DataCommand.SetDrain.class, TEXT, SHARD, I64, DRAIN_TO_HEIR)
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
          .add(9, DataCommand.OpenProducer.class, I64, I32)
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
          .add(39, DataCommand.RaiseFeatureLevel.class, I32)
          .add(40, DataCommand.FillLog.class, BLOB)
          .add(
              41,
              DataCommand.CommitMany.class,
              Codec.list(
                  Codec.record(DataCommand.CommitMany.Position.class, TEXT, SHARD, I64, I64, I64)))
          .add(43, DataCommand.TakeSteps.class, Codec.list(STEP))
          .add(44, DataCommand.SealShards.class, I32, I32)
          .add(
              45, DataCommand.DropSealed.class, I32, I32, absent(DataCommand.DropSealed.EVERYTHING))
          .add(46, DataCommand.DropDelayed.class, SHARD, I64, I32)
          .add(47, DataCommand.CancelDelayed.class, SHARD, I64, I64, I32, I64, I32, BLOB)
          .add(48, DataCommand.OpenLease.class, TEXT, SHARD, START)
          .add(49, DataCommand.OpenShards.class, I32, TEXT, INTS, TOPIC_CONFIG, I64, TEXTS, I32)
          .add(50, DataCommand.DropSealed.class, I32, I32, I32)
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
    if (command instanceof MetaCommand.RaiseFeatureLevel raise) {
      return raise.level();
    }
    if (command instanceof MetaCommand.DeclareGroup declare && !declare.patterns().isEmpty()
        || command instanceof MetaCommand.SeeGroup see && !see.patterns().isEmpty()
        || command instanceof MetaCommand.ForgetPattern) {
      return FeatureLevel.TOPIC_PATTERNS;
    }
    if (command instanceof MetaCommand.ActivateTopic of && of.readers() != null
        || command instanceof MetaCommand.OpenLayout opens && opens.readers() != null) {
      return FeatureLevel.SUBSCRIPTIONS;
    }
    if (command instanceof MetaCommand.ContinueProducer) {
      return FeatureLevel.CONTINUED_PRODUCERS;
    }
    if (command instanceof MetaCommand.ReshardTopic
        || command instanceof MetaCommand.OpenLayout
        || command instanceof MetaCommand.ForgetLayout) {
      return FeatureLevel.RESHARDING;
    }
    if (command instanceof MetaCommand.SetQuota) {
      return FeatureLevel.QUOTAS;
    }
    if (command instanceof MetaCommand.PauseGroup) {
      return FeatureLevel.PAUSING;
    }
    return command instanceof MetaCommand.PutNodes
            || command instanceof MetaCommand.RemoveNode
            || command instanceof MetaCommand.PlaceGroup
            || command instanceof MetaCommand.AddGroup
            || command instanceof MetaCommand.OpenGroup
        ? FeatureLevel.CHANGING_NODES
        : FeatureLevel.FIRST;
  }

  /** The {@link FeatureLevel} that a node needs to read the command. */
  static int level(DataCommand command) {
    if (command instanceof DataCommand.RaiseFeatureLevel raise) {
      return raise.level();
    }
    if (command instanceof DataCommand.SetDrain set
        && set.drain() != null
        && set.drain().heir() != null) {
      return FeatureLevel.RELEASE_TO;
    }
    if (command instanceof DataCommand.DropSealed drop
        && drop.forgetBelow() != DataCommand.DropSealed.EVERYTHING) {
      return FeatureLevel.DROPPED_LAYOUTS;
    }
    if (command instanceof DataCommand.SealShards
        || command instanceof DataCommand.DropSealed
        || command instanceof DataCommand.DropDelayed) {
      return FeatureLevel.RESHARDING;
    }
    if (command instanceof DataCommand.CancelDelayed) {
      return FeatureLevel.CANCELLING;
    }
    if (command instanceof DataCommand.RecordOutcomes record
        && record.outcomes().stream()
            .anyMatch(each -> each instanceof Outcome.Begun || each instanceof Outcome.Died)) {
      return FeatureLevel.CRASHES;
    }
    if (command instanceof DataCommand.TakeSteps take) {
      boolean opens = take.steps().stream().anyMatch(DataCommand.OpenLease.class::isInstance);
      return opens ? FeatureLevel.SUBSCRIPTIONS : FeatureLevel.TAKE_STEPS;
    }
    if (command instanceof DataCommand.OpenLease
        || command instanceof DataCommand.OpenShards open && !open.readers().isEmpty()) {
      return FeatureLevel.SUBSCRIPTIONS;
    }
    return command instanceof DataCommand.CommitMany
        ? FeatureLevel.COMMIT_MANY
        : FeatureLevel.FIRST;
  }
}
