package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.NEEDED_TEXT;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.Codec.absent;

import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.List;
import java.util.TreeMap;

/** Bytes of the records that commands, replies and the store share. */
public final class RecordCodec {
  /** With a group term; the shortest form begins with the group's name. */
  private static final int LEASE_FORM_TERM = 2;

  /** With a generation, too. */
  private static final int LEASE_FORM_GENERATION = 3;

  /** With the owner's timeout, too. */
  private static final int LEASE_FORM_TIMEOUT = 4;

  /** With the heir of a drain, too. */
  private static final int LEASE_FORM = 5;

  public static final Codec<Shard> SHARD = Codec.of(RecordCodec::write, RecordCodec::shard);
  public static final Codec<StartAt> START =
      Codec.record(StartAt.class, Codec.constant(StartAt.Kind.class), I64);
  public static final Codec<Lease> LEASE = Codec.of(RecordCodec::write, RecordCodec::lease);

  /** May be null, but has no heir. */
  static final Codec<Drain> DRAIN =
      Codec.nullable(Codec.record(Drain.class, TEXT, I64, absent(null)));

  /** May be null. */
  static final Codec<Drain> DRAIN_TO_HEIR =
      Codec.nullable(
          Codec.record(
              Drain.class, TEXT, I64, Codec.nullable(Codec.record(Drain.Heir.class, TEXT, I64))));

  static final Codec<GroupPolicy> POLICY = Codec.record(GroupPolicy.class, TEXT, I32, TEXT, TEXT);

  public static final Codec<GroupInfo> GROUP =
      Codec.form(
          "a group's record",
          1,
          Codec.record(
              GroupInfo.class,
              TEXT,
              POLICY,
              Codec.map(TreeMap::new, NEEDED_TEXT, I64),
              START,
              I64,
              I64,
              TEXT));

  public static final Codec<GroupLease> GROUP_LEASE =
      Codec.form("a group's lease", 1, Codec.record(GroupLease.class, TEXT, I64, TEXT, TEXT));
  public static final Codec<TopicConfig> TOPIC_CONFIG = Codec.record(TopicConfig.class);
  public static final Codec<TopicInfo> TOPIC = Codec.record(TopicInfo.class);

  public static final Codec<MoveRecord> MOVE = Codec.record(MoveRecord.class);
  public static final Codec<List<MoveRecord>> MOVES = Codec.list(MOVE);
  public static final Codec<DeadLetter> DEAD_LETTER = Codec.record(DeadLetter.class);

  private RecordCodec() {}

  public static void write(Bytes out, Shard shard) {
    out.i32(shard.topicId()).i32(shard.shard());
  }

  public static Shard shard(ByteReader in) {
    return new Shard(in.i32(), in.i32());
  }

  /**
   * A lease's group has a name: null in its place says that the number of the form follows. Most
   * leases name no term, and are written in the shortest form: every commit writes one.
   */
  public static void write(Bytes out, Lease lease) {
    boolean heir = lease.drain() != null && lease.drain().heir() != null;
    boolean timeout = heir || lease.ownerTimeoutMillis() != Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    boolean generation = timeout || !lease.generation().equals(Generation.FIRST);
    if (generation) {
      int form = heir ? LEASE_FORM : timeout ? LEASE_FORM_TIMEOUT : LEASE_FORM_GENERATION;
      out.text(null).u8(form).i64(lease.groupTerm());
      out.i64(lease.generation().number()).i64(lease.generation().producerId());
      if (timeout) {
        out.i64(lease.ownerTimeoutMillis());
      }
    } else if (lease.groupTerm() != 0) {
      out.text(null).u8(LEASE_FORM_TERM).i64(lease.groupTerm());
    }
    out.text(lease.group());
    write(out, lease.shard());
    out.i64(lease.epoch()).text(lease.owner()).text(lease.instance());
    out.i64(lease.committed()).i64(lease.stateOffset()).blob(lease.state());
    (heir ? DRAIN_TO_HEIR : DRAIN).write(out, lease.drain());
  }

  public static Lease lease(ByteReader in) {
    String group = in.text();
    long groupTerm = 0;
    Generation generation = Generation.FIRST;
    long timeout = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    Codec<Drain> drain = DRAIN;
    if (group == null) {
      int form = Codec.checkForm("a lease", in.u8(), LEASE_FORM_TERM, LEASE_FORM);
      groupTerm = in.i64();
      if (form >= LEASE_FORM_GENERATION) {
        generation = new Generation(in.i64(), in.i64());
      }
      if (form >= LEASE_FORM_TIMEOUT) {
        timeout = in.i64();
      }
      if (form == LEASE_FORM) {
        drain = DRAIN_TO_HEIR;
      }
      group = in.text();
    }
    return new Lease(
        group,
        shard(in),
        in.i64(),
        in.text(),
        in.text(),
        in.i64(),
        in.i64(),
        in.blob(),
        drain.read(in),
        groupTerm,
        generation,
        timeout);
  }
}
