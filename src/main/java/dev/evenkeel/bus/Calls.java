package dev.evenkeel.bus;

import static dev.evenkeel.protocol.wire.Codec.BLOB;
import static dev.evenkeel.protocol.wire.Codec.BOOL;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.INTS;
import static dev.evenkeel.protocol.wire.Codec.NEEDED_TEXT;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.RecordCodec.SHARD;
import static dev.evenkeel.protocol.wire.RecordCodec.START;
import static dev.evenkeel.protocol.wire.RecordCodec.TOPIC_CONFIG;

import dev.evenkeel.bus.rate.QuotaUse;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DelayedId;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Codec;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.DelayedAnswer;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.protocol.wire.RetriesList;
import dev.evenkeel.protocol.wire.RetryAnswer;
import dev.evenkeel.protocol.wire.RetryRequest;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.Function;

/**
 * What programs ask at the control address of a broker: one row for each {@link Op}, which says who
 * answers. What is asked for each message or batch has forms of its own.
 */
public final class Calls {
  private static final Codec<Void> NOTHING = Codec.of((out, none) -> {}, in -> null);
  private static final Codec<Reply> REPLY =
      Codec.of(
          (out, reply) -> out.raw(ReplyCodec.encode(reply)), in -> ReplyCodec.decode(allOf(in)));
  private static final Codec<DataCommand> DATA_COMMAND =
      Codec.of(CommandCodec::write, in -> CommandCodec.data(new ByteReader(allOf(in))));

  /** The delayed message at a place; no part of it is negative. */
  private static final Codec<DelayedAt> DELAYED_AT =
      Codec.of(
          (out, at) -> {
            SHARD.write(out, at.shard());
            out.i64(at.id().dueMillis()).i64(at.id().serial()).i32(at.id().position());
          },
          in -> {
            Shard shard = SHARD.read(in);
            DelayedId id = new DelayedId(shard.shard(), in.i64(), in.i64(), in.i32());
            if (id.dueMillis() < 0 || id.serial() < 0 || id.position() < 0) {
              throw Refusal.INVALID.error("'%s' is no id of a delayed message", id);
            }
            return new DelayedAt(shard, id);
          });

  private Calls() {}

  private static ByteBuffer allOf(ByteReader in) {
    return in.slice(in.remaining());
  }

  /** A value that takes all that is left. */
  private static <T> Codec<T> whole(Codec<T> codec) {
    return checked(codec, codec::decodeAll);
  }

  /** The same, read in another way, which checks it. */
  private static <T> Codec<T> checked(Codec<T> codec, Function<ByteBuffer, T> decode) {
    return Codec.of(codec::write, in -> decode.apply(allOf(in)));
  }

  /** What has {@code encode} and {@code decode} of its own, and takes all that is left. */
  private static <T> Codec<T> own(Function<T, Bytes> encode, Function<ByteReader, T> decode) {
    return Codec.of(
        (out, value) -> {
          ByteBuffer view = encode.apply(value).view();
          out.raw(view.array(), view.arrayOffset() + view.position(), view.remaining());
        },
        in -> decode.apply(new ByteReader(allOf(in))));
  }

  /** A value behind the others that may be missing: null. */
  private static <T> Codec<T> perhaps(Codec<T> codec) {
    return Codec.of(
        (out, value) -> {
          if (value != null) {
            codec.write(out, value);
          }
        },
        in -> in.remaining() > 0 ? codec.read(in) : null);
  }

  // ---- Commands

  /** A command for a data group, by its number. */
  public record ToGroup(int dataGroup, DataCommand command) {}

  private static final Codec<ToGroup> TO_GROUP = Codec.record(ToGroup.class, I32, DATA_COMMAND);

  /** To the leader of the data group. */
  public static final Call<ToGroup, Reply> SUBMIT_DATA =
      new Call<>(Op.SUBMIT_DATA, TO_GROUP, REPLY);

  /** A command that opens, configures or drops shards. To the leader of the data group. */
  public static final Call<ToGroup, Reply> MANAGE_SHARDS =
      new Call<>(Op.MANAGE_SHARDS, TO_GROUP, REPLY);

  /** To the leader of the meta group. */
  public static final Call<MetaCommand, Reply> SUBMIT_META =
      new Call<>(
          Op.SUBMIT_META,
          Codec.of(CommandCodec::write, in -> CommandCodec.meta(new ByteReader(allOf(in)))),
          REPLY);

  // ---- Topics, to the leader of the meta group

  public record CreateTopic(String name, int shards, TopicConfig config) {}

  /** Creates a topic in all log groups. Answers Reply.OfTopic (ACTIVE). */
  public static final Call<CreateTopic, Reply> CREATE_TOPIC =
      new Call<>(Op.CREATE_TOPIC, Codec.record(CreateTopic.class, TEXT, I32, TOPIC_CONFIG), REPLY);

  public record ConfigureTopic(String name, TopicConfig config) {}

  /** Answers Reply.OfTopic. */
  public static final Call<ConfigureTopic, Reply> CONFIGURE_TOPIC =
      new Call<>(Op.CONFIGURE_TOPIC, Codec.record(ConfigureTopic.class, TEXT, TOPIC_CONFIG), REPLY);

  public record ReshardTopic(String name, int shards) {}

  /** Gives a topic another number of shards. Answers Reply.OfTopic. */
  public static final Call<ReshardTopic, Reply> RESHARD_TOPIC =
      new Call<>(Op.RESHARD_TOPIC, Codec.record(ReshardTopic.class), REPLY);

  /** By name. Answers Reply.Done once it is unknown. */
  public static final Call<String, Reply> DELETE_TOPIC = new Call<>(Op.DELETE_TOPIC, TEXT, REPLY);

  // ---- What the meta group knows, to its leader

  public static final Call<Void, List<GroupInfo>> READ_GROUPS =
      new Call<>(Op.READ_GROUPS, NOTHING, Codec.list(RecordCodec.GROUP));

  /** Of groups whose lease was ever granted. */
  public static final Call<Void, List<GroupLease>> READ_GROUP_LEASES =
      new Call<>(Op.READ_GROUP_LEASES, NOTHING, Codec.list(RecordCodec.GROUP_LEASE));

  /** The rebalance history, oldest first. */
  public static final Call<Void, List<MoveRecord>> READ_MOVES =
      new Call<>(Op.READ_MOVES, NOTHING, RecordCodec.MOVES);

  /** Time of a quota, of which the leader of the meta group gives out all. */
  public static final Call<ReserveRequest, Reservation> RESERVE =
      new Call<>(
          Op.RESERVE,
          checked(ReserveRequest.CODEC, ReserveRequest::decode),
          whole(Reservation.CODEC));

  public static final Call<Void, List<QuotaUse>> READ_QUOTAS =
      new Call<>(Op.READ_QUOTAS, NOTHING, QuotaUse.LIST);

  /** The user of that name that the cluster keeps, if any; null: all of them, by name. */
  public static final Call<String, List<ClusterUser>> READ_USERS =
      new Call<>(Op.READ_USERS, TEXT, Codec.list(RecordCodec.USER));

  /**
   * @param producers ids
   */
  public record ReadProducers(int dataGroup, List<Long> producers) {}

  /** Which of some producers a data group remembers. To its leader. */
  public static final Call<ReadProducers, List<Long>> READ_PRODUCERS =
      new Call<>(
          Op.READ_PRODUCERS, Codec.record(ReadProducers.class, I32, Codec.NUMBERS), Codec.NUMBERS);

  // ---- Shards

  /**
   * @param withStage whether the reply says if the shard is finished; null: no
   */
  public record ReadLease(String group, Shard shard, Boolean withStage) {}

  /** Answers Reply.OfLease with its state. To the shard's leader. */
  public static final Call<ReadLease, Reply> READ_LEASE =
      new Call<>(
          Op.READ_LEASE, Codec.record(ReadLease.class, NEEDED_TEXT, SHARD, perhaps(BOOL)), REPLY);

  /**
   * @param group whose leases and failures count; null: all
   * @param topics numbers of the topics that count; null: all
   */
  public record ReadShards(int dataGroup, String group, List<Integer> topics) {}

  /** To the leader of the data group. */
  public static final Call<ReadShards, List<ShardStatus>> READ_SHARDS =
      new Call<>(
          Op.READ_SHARDS,
          Codec.record(ReadShards.class, I32, TEXT, perhaps(INTS)),
          ShardStatus.LIST);

  public record FindOffset(Shard shard, StartAt start) {}

  /** The offset at which a consumer that starts there begins. To the shard's leader. */
  public static final Call<FindOffset, Long> FIND_OFFSET =
      new Call<>(Op.FIND_OFFSET, Codec.record(FindOffset.class, SHARD, START), I64);

  public record ReadBytes(Shard shard, long from, long to) {}

  /**
   * Size of the batches from the one with the first offset to the last one before the batch with
   * the second offset. To the shard's leader.
   */
  public static final Call<ReadBytes, Long> READ_BYTES =
      new Call<>(Op.READ_BYTES, Codec.record(ReadBytes.class, SHARD, I64, I64), I64);

  // ---- Failures

  /** To the shard's leader, from its owner. */
  public static final Call<RetryRequest, RetryAnswer> FETCH_RETRIES =
      new Call<>(
          Op.FETCH_RETRIES,
          checked(RetryRequest.CODEC, RetryRequest::decode),
          whole(RetryAnswer.CODEC));

  /**
   * @param from offset
   * @param max most messages
   * @param bytesMax most bytes of them; 0: none, which nodes of former versions send nevertheless
   */
  public record ReadDeadLetters(String group, Shard shard, long from, int max, int bytesMax) {}

  /** To the shard's leader. */
  public static final Call<ReadDeadLetters, DeadLettersAnswer> READ_DEAD_LETTERS =
      new Call<>(
          Op.READ_DEAD_LETTERS,
          Codec.record(ReadDeadLetters.class, NEEDED_TEXT, SHARD, I64, I32, I32),
          whole(DeadLettersAnswer.CODEC));

  /**
   * @param from offset
   * @param max most messages
   */
  public record ReadRetries(String group, Shard shard, long from, int max) {}

  /** To the shard's leader. */
  public static final Call<ReadRetries, RetriesList> READ_RETRIES =
      new Call<>(
          Op.READ_RETRIES,
          Codec.record(ReadRetries.class, NEEDED_TEXT, SHARD, I64, I32),
          whole(RetriesList.CODEC));

  /**
   * @param group null: all
   */
  public record ReadFailures(int dataGroup, String group) {}

  /** To the leader of the data group. */
  public static final Call<ReadFailures, List<FailureFigures>> READ_FAILURES =
      new Call<>(
          Op.READ_FAILURES, Codec.record(ReadFailures.class, I32, TEXT), FailureFigures.LIST);

  // ---- Delayed messages

  /** A delayed message. */
  public record DelayedAt(Shard shard, DelayedId id) {}

  /**
   * @param from the message to begin with, or the place where it would be
   * @param key null: any
   * @param max most messages
   */
  public record ReadDelayed(DelayedAt from, byte[] key, int max) {}

  /** To the shard's leader. */
  public static final Call<ReadDelayed, DelayedAnswer> READ_DELAYED =
      new Call<>(
          Op.READ_DELAYED,
          Codec.record(ReadDelayed.class, DELAYED_AT, BLOB, I32),
          whole(DelayedAnswer.CODEC));

  /** To the shard's leader. */
  public static final Call<DelayedAt, Reply> CANCEL_DELAYED =
      new Call<>(Op.CANCEL_DELAYED, DELAYED_AT, REPLY);

  /** A delayed message that a reshard has moved, as it was before. */
  public record FindMoved(int dataGroup, DelayedAt former) {}

  /**
   * @param shard of the data group that has it now; -1: none has
   */
  public record Moved(int shard, long serial) {}

  /** To the leader of the data group. */
  public static final Call<FindMoved, Moved> FIND_MOVED =
      new Call<>(
          Op.FIND_MOVED, Codec.record(FindMoved.class, I32, DELAYED_AT), Codec.record(Moved.class));

  // ---- A node's own logs

  /** To any broker. */
  public static final Call<Void, NodeLogs> READ_LOGS =
      new Call<>(Op.READ_LOGS, NOTHING, own(NodeLogs::encode, NodeLogs::decode));

  /** What users hold of what is scarce. To any broker, about its node. */
  public static final Call<Void, List<ShareUse>> READ_SHARES =
      new Call<>(Op.READ_SHARES, NOTHING, ShareUse.LIST);

  /** A log entry. */
  public record ReadBody(int dataGroup, long index) {}

  /** To any broker, about its own copy. */
  public static final Call<ReadBody, BodyAnswer> READ_BODY =
      new Call<>(
          Op.READ_BODY, Codec.record(ReadBody.class), own(BodyAnswer::encode, BodyAnswer::decode));

  /**
   * The reply itself.
   *
   * @throws RefusedException if it is a refusal
   */
  public static Reply taken(Reply reply) {
    if (reply instanceof Reply.Refused refused) {
      throw refused.exception();
    }
    return reply;
  }
}
