package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.INVALID;
import static dev.evenkeel.protocol.wire.Codec.I32;
import static dev.evenkeel.protocol.wire.Codec.I64;
import static dev.evenkeel.protocol.wire.Codec.NEEDED_TEXT;
import static dev.evenkeel.protocol.wire.Codec.TEXT;
import static dev.evenkeel.protocol.wire.Codec.absent;

import dev.evenkeel.protocol.AddedLogGroup;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.Crashes;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPattern;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Pause;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.Skipped;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Bytes of the records that commands, replies and the store share. */
public final class RecordCodec {
  /** With a group term; the shortest form begins with the group's name. */
  private static final int LEASE_FORM_TERM = 2;

  /** With a generation, too. */
  private static final int LEASE_FORM_GENERATION = 3;

  /** With the owner's timeout, too. */
  private static final int LEASE_FORM_TIMEOUT = 4;

  /** With the heir of a drain, too. */
  private static final int LEASE_FORM_HEIR = 5;

  /** With the stage, too. */
  private static final int LEASE_FORM_STAGE = 6;

  /** With crashes, too. */
  private static final int LEASE_FORM_CRASHES = 7;

  /** With what was skipped, too, and with crashes that may be null. */
  private static final int LEASE_FORM_SKIPPED = 8;

  private static final Codec<Crashes> CRASHES = Codec.record(Crashes.class, I64, I32, I64, I64);
  private static final Codec<Crashes> CRASHES_OR_NONE = Codec.nullable(CRASHES);
  private static final Codec<Skipped> SKIPPED = Codec.record(Skipped.class, I64, I64, I64, I64);
  private static final Codec<Lease.Stage> LEASE_STAGE = Codec.constant(Lease.Stage.class);
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

  static final Codec<GroupPattern> GROUP_PATTERN =
      Codec.record(GroupPattern.class, NEEDED_TEXT, Codec.nullable(Codec.TEXTS));

  public static final Codec<GroupInfo> GROUP =
      new Tagged<GroupInfo>("form of a group's record")
          .add(1, GroupInfo.class, group(absent(Collections.emptySortedMap())))
          .add(2, GroupInfo.class, group(Codec.map(TreeMap::new, GROUP_PATTERN, I64)));

  private static Codec<?>[] group(Codec<?> patterns) {
    Codec<?> subscriptions = Codec.map(TreeMap::new, NEEDED_TEXT, I64);
    return new Codec<?>[] {TEXT, POLICY, subscriptions, START, I64, I64, TEXT, patterns};
  }

  public static final Codec<GroupLease> GROUP_LEASE =
      Codec.form("a group's lease", 1, Codec.record(GroupLease.class, TEXT, I64, TEXT, TEXT));
  public static final Codec<ClusterNode> NODE =
      Codec.form(
          "a node's record",
          1,
          Codec.record(
              ClusterNode.class, TEXT, TEXT, I32, TEXT, Codec.constant(ClusterNode.State.class)));

  public static final Codec<AddedLogGroup> ADDED_GROUP =
      Codec.form(
          "an added group", 1, Codec.record(AddedLogGroup.class, I32, Codec.TEXTS, Codec.BOOL));

  public static final Codec<Quota> QUOTA =
      Codec.form(
          "a quota",
          1,
          Codec.record(Quota.class, Codec.constant(QuotaKind.class), TEXT, I64, I64, I64));

  public static final Codec<ClusterUser> USER =
      Codec.form(
          "a user",
          1,
          Codec.record(
              ClusterUser.class,
              TEXT,
              Codec.list(
                  Codec.record(ClusterUser.TokenDigest.class, TEXT, TEXT, Codec.nullable(I64))),
              TEXT,
              I32,
              Codec.TEXTS));

  public static final Codec<Pause> PAUSE =
      Codec.form("a pause", 1, Codec.record(Pause.class, NEEDED_TEXT, I32, I32));

  public static final Codec<TopicConfig> TOPIC_CONFIG =
      Codec.grown(TopicConfig.class, TopicConfig.DEFAULT, FeatureLevel.TOPIC_SETTINGS);

  /** A topic with layouts. The shortest form, without them, begins with the topic's id. */
  private static final int TOPIC_FORM_LAYOUTS = 1;

  /** With layouts that are gone, too. */
  private static final int TOPIC_FORM_DROPPED = 2;

  private static final int NO_TOPIC_ID = -2;

  private static final Codec<TopicInfo.Layout> LAYOUT =
      Codec.record(TopicInfo.Layout.class, I32, I32, Codec.I64, Codec.INTS);
  private static final Codec<List<TopicInfo.Layout>> LAYOUTS = Codec.list(LAYOUT);
  private static final Codec<TopicInfo.Layout> NEXT_LAYOUT = Codec.nullable(LAYOUT);
  private static final Codec<TopicInfo.State> TOPIC_STATE = Codec.constant(TopicInfo.State.class);
  public static final Codec<TopicInfo> TOPIC = Codec.of(RecordCodec::write, RecordCodec::topic);

  public static final Codec<MoveRecord> MOVE = Codec.record(MoveRecord.class);
  public static final Codec<List<MoveRecord>> MOVES = Codec.list(MOVE);
  public static final Codec<DeadLetter> DEAD_LETTER = Codec.record(DeadLetter.class);

  private RecordCodec() {}

  /** A topic has an id from 1: this in its place says that the number of the form follows. */
  private static void write(Bytes out, TopicInfo topic) {
    boolean plain = topic.next() == null && topic.open().first() == 0 && !topic.isPlaced();
    if (!plain) {
      boolean remembers = !topic.dropped().isEmpty();
      out.i32(NO_TOPIC_ID).u8(remembers ? TOPIC_FORM_DROPPED : TOPIC_FORM_LAYOUTS);
    }
    out.i32(topic.id()).text(topic.name());
    if (plain) {
      out.i32(topic.shards());
    } else {
      LAYOUTS.write(out, topic.layouts());
      if (!topic.dropped().isEmpty()) {
        LAYOUTS.write(out, topic.dropped());
      }
      writeNullable(NEXT_LAYOUT, out, topic.next());
    }
    TOPIC_CONFIG.write(out, topic.config());
    TOPIC_STATE.write(out, topic.state());
    out.i64(topic.createdMillis());
  }

  /** A text that is never left out. */
  @SuppressWarnings("NullAway")
  private static String written(ByteReader in) {
    return in.text();
  }

  private static TopicInfo topic(ByteReader in) {
    int id = in.i32();
    boolean plain = id != NO_TOPIC_ID;
    int form = TOPIC_FORM_LAYOUTS;
    if (!plain) {
      form = in.u8();
      Codec.checkForm("a topic", form, TOPIC_FORM_LAYOUTS, TOPIC_FORM_DROPPED);
      id = in.i32();
    }
    String name = written(in);
    if (plain) {
      int shards = in.i32();
      return new TopicInfo(id, name, shards, TOPIC_CONFIG.read(in), TOPIC_STATE.read(in), in.i64());
    }
    List<TopicInfo.Layout> layouts = LAYOUTS.read(in);
    if (layouts.isEmpty()) {
      throw new MalformedException(INVALID, "malformed record: topic '" + name + "' has no shards");
    }
    return new TopicInfo(
        id,
        name,
        layouts,
        form == TOPIC_FORM_DROPPED ? LAYOUTS.read(in) : List.of(),
        NEXT_LAYOUT.read(in),
        TOPIC_CONFIG.read(in),
        TOPIC_STATE.read(in),
        in.i64());
  }

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
    boolean skipped = lease.skipped() != null;
    boolean crashes = skipped || lease.crashes() != null;
    boolean stage = crashes || lease.passed();
    boolean heir = stage || lease.drain() != null && lease.drain().heir() != null;
    boolean timeout = heir || lease.ownerTimeoutMillis() != Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    boolean generation = timeout || !lease.generation().equals(Generation.FIRST);
    if (generation) {
      int form =
          skipped
              ? LEASE_FORM_SKIPPED
              : crashes
                  ? LEASE_FORM_CRASHES
                  : stage
                      ? LEASE_FORM_STAGE
                      : heir
                          ? LEASE_FORM_HEIR
                          : timeout ? LEASE_FORM_TIMEOUT : LEASE_FORM_GENERATION;
      out.text(null).u8(form).i64(lease.groupTerm());
      out.i64(lease.generation().number()).i64(lease.generation().producerId());
      if (timeout) {
        out.i64(lease.ownerTimeoutMillis());
      }
      if (stage) {
        LEASE_STAGE.write(out, lease.stage());
      }
      if (crashes) {
        writeNullable(skipped ? CRASHES_OR_NONE : CRASHES, out, lease.crashes());
      }
      if (skipped) {
        writeNullable(SKIPPED, out, lease.skipped());
      }
    } else if (lease.groupTerm() != 0) {
      out.text(null).u8(LEASE_FORM_TERM).i64(lease.groupTerm());
    }
    out.text(lease.group());
    write(out, lease.shard());
    out.i64(lease.epoch()).text(lease.owner()).text(lease.instance());
    out.i64(lease.committed()).i64(lease.stateOffset()).blob(lease.state());
    writeNullable(heir ? DRAIN_TO_HEIR : DRAIN, out, lease.drain());
  }

  /** With a codec that can write what the value is. */
  @SuppressWarnings("NullAway")
  private static <T> void writeNullable(Codec<T> codec, Bytes out, @Nullable T value) {
    codec.write(out, value);
  }

  public static Lease lease(ByteReader in) {
    String group = in.text();
    long groupTerm = 0;
    Generation generation = Generation.FIRST;
    long timeout = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    Lease.Stage stage = Lease.Stage.CONSUMING;
    Crashes crashes = null;
    Skipped skipped = null;
    Codec<Drain> drain = DRAIN;
    if (group == null) {
      int form = Codec.checkForm("a lease", in.u8(), LEASE_FORM_TERM, LEASE_FORM_SKIPPED);
      groupTerm = in.i64();
      if (form >= LEASE_FORM_GENERATION) {
        generation = new Generation(in.i64(), in.i64());
      }
      if (form >= LEASE_FORM_TIMEOUT) {
        timeout = in.i64();
      }
      if (form >= LEASE_FORM_HEIR) {
        drain = DRAIN_TO_HEIR;
      }
      if (form >= LEASE_FORM_STAGE) {
        stage = LEASE_STAGE.read(in);
      }
      if (form == LEASE_FORM_CRASHES) {
        crashes = CRASHES.read(in);
      }
      if (form >= LEASE_FORM_SKIPPED) {
        crashes = CRASHES_OR_NONE.read(in);
        skipped = SKIPPED.read(in);
      }
      group = written(in);
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
        timeout,
        stage,
        crashes,
        skipped);
  }
}
