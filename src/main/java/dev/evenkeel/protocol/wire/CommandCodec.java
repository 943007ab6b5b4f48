package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes of commands: a tag, then the fields. Tags are never used again for another meaning, so that
 * an old log stays readable. A new tag belongs to a {@link FeatureLevel}, and a tag never gets
 * another field.
 */
public final class CommandCodec {
  private CommandCodec() {}

  public static void write(Bytes out, MetaCommand command) {
    if (command instanceof MetaCommand.CreateTopic c) {
      out.u8(1).text(c.name()).i32(c.shards());
      RecordCodec.write(out, c.config());
    } else if (command instanceof MetaCommand.ActivateTopic c) {
      out.u8(2).i32(c.topicId());
    } else if (command instanceof MetaCommand.ConfigureTopic c) {
      out.u8(3).i32(c.topicId());
      RecordCodec.write(out, c.config());
    } else if (command instanceof MetaCommand.DeleteTopic c) {
      out.u8(4).text(c.name());
    } else if (command instanceof MetaCommand.RemoveTopic c) {
      boolean floor = c.epochFloor() != 0;
      out.u8(floor ? 15 : 5).i32(c.topicId());
      if (floor) {
        out.i64(c.epochFloor());
      }
    } else if (command instanceof MetaCommand.DeclareGroup c) {
      boolean plain = c.policy().equals(GroupPolicy.SHARDED);
      out.u8(plain ? 6 : 12).text(c.name());
      if (plain) {
        out.text(c.policy().mode());
      } else {
        RecordCodec.write(out, c.policy());
      }
      RecordCodec.writeTexts(out, c.topics());
      RecordCodec.write(out, c.start());
      out.bool(c.force()).text(c.assignor());
    } else if (command instanceof MetaCommand.SeeGroup c) {
      out.u8(c.topics().isEmpty() ? 7 : 16).text(c.name());
      if (!c.topics().isEmpty()) {
        RecordCodec.writeTexts(out, c.topics());
      }
    } else if (command instanceof MetaCommand.AddActiveTime c) {
      out.u8(17).i64(c.millis());
    } else if (command instanceof MetaCommand.ForgetGroup c) {
      out.u8(8).text(c.name());
    } else if (command instanceof MetaCommand.RegisterProducer c) {
      out.u8(9).text(c.name());
    } else if (command instanceof MetaCommand.RecordMoves c) {
      out.u8(11);
      RecordCodec.writeMoves(out, c.moves());
    } else if (command instanceof MetaCommand.GrantGroupLease c) {
      out.u8(13).text(c.group()).text(c.holder()).text(c.instance()).i64(c.expectedTerm());
    } else if (command instanceof MetaCommand.ReleaseGroupLease c) {
      out.u8(14).text(c.group()).text(c.instance()).i64(c.term());
    } else if (command instanceof MetaCommand.ForgetTopic c) {
      out.u8(19).text(c.group()).text(c.topic());
    } else if (command instanceof MetaCommand.RaiseFeatureLevel c) {
      out.u8(18).i32(c.level());
    } else {
      throw new IllegalStateException("no bytes for " + command);
    }
  }

  /** The {@link FeatureLevel} that a node needs to read the command. */
  static int level(MetaCommand command, int tag) {
    if (command instanceof MetaCommand.RaiseFeatureLevel raise) {
      return raise.level();
    }
    return tag <= 14 ? FeatureLevel.FIRST : tag <= 18 ? 2 : 3;
  }

  /** The {@link FeatureLevel} that a node needs to read the command. */
  static int level(DataCommand command, int tag) {
    if (command instanceof DataCommand.RaiseFeatureLevel raise) {
      return raise.level();
    }
    boolean first = tag <= 15 || tag == 20 || tag >= 32 && tag <= 35;
    return first ? FeatureLevel.FIRST : tag == 38 ? 3 : 2;
  }

  public static MetaCommand meta(ByteReader in) {
    int tag = in.u8();
    MetaCommand command =
        switch (tag) {
          case 1 -> new MetaCommand.CreateTopic(in.text(), in.i32(), RecordCodec.topicConfig(in));
          case 2 -> new MetaCommand.ActivateTopic(in.i32());
          case 3 -> new MetaCommand.ConfigureTopic(in.i32(), RecordCodec.topicConfig(in));
          case 4 -> new MetaCommand.DeleteTopic(in.text());
          case 5 -> new MetaCommand.RemoveTopic(in.i32(), 0);
          case 6 ->
              new MetaCommand.DeclareGroup(
                  in.text(),
                  GroupPolicy.of(in.text()),
                  RecordCodec.texts(in),
                  RecordCodec.start(in),
                  in.bool(),
                  // Logs of before there was a choice of assignors end here.
                  in.remaining() == 0 ? null : in.text());
          case 7 -> new MetaCommand.SeeGroup(in.text(), List.of());
          case 8 -> new MetaCommand.ForgetGroup(in.text());
          case 9 -> new MetaCommand.RegisterProducer(in.text());
          case 11 -> new MetaCommand.RecordMoves(RecordCodec.moves(in));
          case 12 ->
              new MetaCommand.DeclareGroup(
                  in.text(),
                  RecordCodec.policy(in),
                  RecordCodec.texts(in),
                  RecordCodec.start(in),
                  in.bool(),
                  in.text());
          case 13 -> new MetaCommand.GrantGroupLease(in.text(), in.text(), in.text(), in.i64());
          case 14 -> new MetaCommand.ReleaseGroupLease(in.text(), in.text(), in.i64());
          case 15 -> new MetaCommand.RemoveTopic(in.i32(), in.i64());
          case 16 -> new MetaCommand.SeeGroup(in.text(), RecordCodec.texts(in));
          case 17 -> new MetaCommand.AddActiveTime(in.i64());
          case 18 -> new MetaCommand.RaiseFeatureLevel(in.i32());
          case 19 -> new MetaCommand.ForgetTopic(in.text(), in.text());
          default -> throw unknown(tag);
        };
    in.end();
    return command;
  }

  public static void write(Bytes out, DataCommand command) {
    if (command instanceof DataCommand.OpenShards c) {
      boolean floor = c.epochFloor() != 0;
      out.u8(floor ? 16 : 1).i32(c.topicId()).text(c.topic()).i32(c.shards().size());
      c.shards().forEach(out::i32);
      RecordCodec.write(out, c.config());
      if (floor) {
        out.i64(c.epochFloor());
      }
    } else if (command instanceof DataCommand.DropShards c) {
      out.u8(2).i32(c.topicId());
    } else if (command instanceof DataCommand.ConfigureShards c) {
      out.u8(3).i32(c.topicId());
      RecordCodec.write(out, c.config());
    } else if (command instanceof DataCommand.Grant c) {
      boolean term = c.groupTerm() != 0;
      boolean timeout = c.ownerTimeoutMillis() != Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
      out.u8(timeout ? 36 : term ? 12 : 4).text(c.group());
      RecordCodec.write(out, c.shard());
      out.text(c.owner()).text(c.instance()).i64(c.expectedEpoch());
      RecordCodec.write(out, c.start());
      if (term || timeout) {
        out.i64(c.groupTerm());
      }
      if (timeout) {
        out.i64(c.ownerTimeoutMillis());
      }
    } else if (command instanceof DataCommand.SetDrain c) {
      out.u8(5).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.expectedEpoch());
      RecordCodec.write(out, c.drain());
    } else if (command instanceof DataCommand.Commit c) {
      boolean empty = c.state() == null && c.stateOffset() >= 0;
      out.u8(c.state() != null ? 32 : empty ? 11 : 6).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.epoch()).i64(c.offset());
      if (c.state() != null || empty) {
        out.i64(c.stateOffset());
      }
      if (c.state() != null) {
        out.blob(c.state());
      }
    } else if (command instanceof DataCommand.Release c) {
      out.u8(7).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.epoch()).i64(c.offset()).i64(c.stateOffset()).blob(c.state());
    } else if (command instanceof DataCommand.ForgetLeases c) {
      boolean one = c.topicId() != DataCommand.ForgetLeases.ALL_TOPICS;
      out.u8(one ? 38 : c.epochMax() == 0 ? 8 : 37).text(c.group());
      if (one || c.epochMax() != 0) {
        out.i64(c.epochMax());
      }
      if (one) {
        out.i32(c.topicId());
      }
    } else if (command instanceof DataCommand.OpenProducer c) {
      out.u8(9).i64(c.producerId()).i32(c.epoch());
    } else if (command instanceof DataCommand.Retain) {
      out.u8(10);
    } else if (command instanceof DataCommand.RecordOutcomes c) {
      out.u8(13).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.epoch());
      FailureCodec.writeOutcomes(out, c.outcomes());
    } else if (command instanceof DataCommand.ReplayDeadLetters c) {
      out.u8(14).text(c.group());
      RecordCodec.write(out, c.shard());
      RecordCodec.writeNumbers(out, c.offsets());
    } else if (command instanceof DataCommand.DropDeadLetters c) {
      out.u8(15).text(c.group());
      RecordCodec.write(out, c.shard());
      RecordCodec.writeNumbers(out, c.offsets());
    } else if (command instanceof DataCommand.DeliverDue c) {
      out.u8(20).i32(c.batchesMax()).i32(c.bytesMax());
    } else if (command instanceof DataCommand.ResetLease c) {
      out.u8(33).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.expectedEpoch());
      RecordCodec.write(out, c.to());
    } else if (command instanceof DataCommand.SetPublisher c) {
      out.u8(34).text(c.group());
      RecordCodec.write(out, c.shard());
      out.i64(c.epoch()).i64(c.producerId());
    } else if (command instanceof DataCommand.OpenPublisher c) {
      out.u8(35).i64(c.producerId()).i32(c.epoch()).text(c.group());
      RecordCodec.write(out, c.input());
      out.bool(c.fresh());
    } else if (command instanceof DataCommand.RaiseFeatureLevel c) {
      out.u8(39).i32(c.level());
    } else {
      throw new IllegalStateException("no bytes for " + command);
    }
  }

  public static DataCommand data(ByteReader in) {
    int tag = in.u8();
    DataCommand command =
        switch (tag) {
          case 1 ->
              new DataCommand.OpenShards(
                  in.i32(), in.text(), numbers(in), RecordCodec.topicConfig(in));
          case 2 -> new DataCommand.DropShards(in.i32());
          case 3 -> new DataCommand.ConfigureShards(in.i32(), RecordCodec.topicConfig(in));
          case 4 ->
              new DataCommand.Grant(
                  in.text(),
                  RecordCodec.shard(in),
                  in.text(),
                  in.text(),
                  in.i64(),
                  RecordCodec.start(in));
          case 5 ->
              new DataCommand.SetDrain(
                  in.text(), RecordCodec.shard(in), in.i64(), RecordCodec.drain(in));
          case 6 -> new DataCommand.Commit(in.text(), RecordCodec.shard(in), in.i64(), in.i64());
          case 7 ->
              new DataCommand.Release(
                  in.text(), RecordCodec.shard(in), in.i64(), in.i64(), in.i64(), in.blob());
          case 8 -> new DataCommand.ForgetLeases(in.text());
          case 9 -> new DataCommand.OpenProducer(in.i64(), in.i32());
          case 10 -> new DataCommand.Retain();
          case 11 ->
              new DataCommand.Commit(
                  in.text(), RecordCodec.shard(in), in.i64(), in.i64(), in.i64());
          case 12 ->
              new DataCommand.Grant(
                  in.text(),
                  RecordCodec.shard(in),
                  in.text(),
                  in.text(),
                  in.i64(),
                  RecordCodec.start(in),
                  in.i64());
          case 13 ->
              new DataCommand.RecordOutcomes(
                  in.text(), RecordCodec.shard(in), in.i64(), FailureCodec.outcomes(in));
          case 14 ->
              new DataCommand.ReplayDeadLetters(
                  in.text(), RecordCodec.shard(in), RecordCodec.numbers(in));
          case 15 ->
              new DataCommand.DropDeadLetters(
                  in.text(), RecordCodec.shard(in), RecordCodec.numbers(in));
          case 16 ->
              new DataCommand.OpenShards(
                  in.i32(), in.text(), numbers(in), RecordCodec.topicConfig(in), in.i64());
          case 20 -> new DataCommand.DeliverDue(in.i32(), in.i32());
          case 32 ->
              new DataCommand.Commit(
                  in.text(), RecordCodec.shard(in), in.i64(), in.i64(), in.i64(), in.blob());
          case 33 ->
              new DataCommand.ResetLease(
                  in.text(), RecordCodec.shard(in), in.i64(), RecordCodec.start(in));
          case 34 ->
              new DataCommand.SetPublisher(in.text(), RecordCodec.shard(in), in.i64(), in.i64());
          case 35 ->
              new DataCommand.OpenPublisher(
                  in.i64(), in.i32(), in.text(), RecordCodec.shard(in), in.bool());
          case 37 -> new DataCommand.ForgetLeases(in.text(), in.i64());
          case 38 -> new DataCommand.ForgetLeases(in.text(), in.i64(), in.i32());
          case 39 -> new DataCommand.RaiseFeatureLevel(in.i32());
          case 36 ->
              new DataCommand.Grant(
                  in.text(),
                  RecordCodec.shard(in),
                  in.text(),
                  in.text(),
                  in.i64(),
                  RecordCodec.start(in),
                  in.i64(),
                  in.i64());
          default -> throw unknown(tag);
        };
    in.end();
    return command;
  }

  private static List<Integer> numbers(ByteReader in) {
    int count = in.count();
    List<Integer> numbers = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      numbers.add(in.i32());
    }
    return List.copyOf(numbers);
  }

  private static MalformedException unknown(int tag) {
    return new MalformedException(Refusal.WRONG_VERSION, "unknown command " + tag);
  }
}
