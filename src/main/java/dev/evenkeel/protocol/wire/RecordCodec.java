package dev.evenkeel.protocol.wire;

import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Generation;
import dev.evenkeel.protocol.GroupInfo;
import dev.evenkeel.protocol.GroupLease;
import dev.evenkeel.protocol.GroupPolicy;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MalformedException;
import dev.evenkeel.protocol.MoveRecord;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Bytes of the records that commands, replies and the store share. */
public final class RecordCodec {
  /** With an assignor; the policy is a mode. */
  private static final int GROUP_FORM_PLAIN = 2;

  /** With a policy. */
  private static final int GROUP_FORM_POLICY = 3;

  /** With when each topic was last subscribed to; that and when it was seen in active time. */
  private static final int GROUP_FORM = 4;

  /** With a group term; the first form begins with the group's name. */
  private static final int LEASE_FORM_TERM = 2;

  /** With a generation, too. */
  private static final int LEASE_FORM_GENERATION = 3;

  /** With the owner's timeout, too. */
  private static final int LEASE_FORM = 4;

  private static final int GROUP_LEASE_FORM = 1;

  private RecordCodec() {}

  public static void write(Bytes out, Shard shard) {
    out.i32(shard.topicId()).i32(shard.shard());
  }

  public static Shard shard(ByteReader in) {
    return new Shard(in.i32(), in.i32());
  }

  public static void write(Bytes out, StartAt start) {
    out.u8(start.kind().ordinal()).i64(start.value());
  }

  public static StartAt start(ByteReader in) {
    return new StartAt(constant(StartAt.Kind.values(), in.u8()), in.i64());
  }

  public static void write(Bytes out, Drain drain) {
    out.bool(drain != null);
    if (drain != null) {
      out.text(drain.to()).i64(drain.deadlineMillis());
    }
  }

  public static Drain drain(ByteReader in) {
    return in.bool() ? new Drain(in.text(), in.i64()) : null;
  }

  /**
   * A lease's group has a name: null in its place says that the number of the form follows. Most
   * leases name no term, and are written in the first form.
   */
  public static void write(Bytes out, Lease lease) {
    boolean timeout = lease.ownerTimeoutMillis() != Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    boolean generation = timeout || !lease.generation().equals(Generation.FIRST);
    if (generation) {
      out.text(null).u8(timeout ? LEASE_FORM : LEASE_FORM_GENERATION).i64(lease.groupTerm());
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
    write(out, lease.drain());
  }

  public static Lease lease(ByteReader in) {
    String group = in.text();
    long groupTerm = 0;
    Generation generation = Generation.FIRST;
    long timeout = Limits.MEMBER_TIMEOUT_MILLIS_DEFAULT;
    if (group == null) {
      int form = form("a lease", in.u8(), LEASE_FORM_TERM, LEASE_FORM);
      groupTerm = in.i64();
      if (form >= LEASE_FORM_GENERATION) {
        generation = new Generation(in.i64(), in.i64());
      }
      if (form == LEASE_FORM) {
        timeout = in.i64();
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
        drain(in),
        groupTerm,
        generation,
        timeout);
  }

  public static void write(Bytes out, GroupLease lease) {
    out.u8(GROUP_LEASE_FORM).text(lease.group()).i64(lease.term());
    out.text(lease.holder()).text(lease.instance());
  }

  public static GroupLease groupLease(ByteReader in) {
    form("a group's lease", in.u8(), GROUP_LEASE_FORM, GROUP_LEASE_FORM);
    return new GroupLease(in.text(), in.i64(), in.text(), in.text());
  }

  public static void write(Bytes out, GroupPolicy policy) {
    out.text(policy.mode()).i32(policy.range()).text(policy.strategy()).text(policy.dedup());
  }

  public static GroupPolicy policy(ByteReader in) {
    return new GroupPolicy(in.text(), in.i32(), in.text(), in.text());
  }

  public static void write(Bytes out, TopicConfig config) {
    out.i64(config.retentionMillis()).i64(config.ageMillisMax()).i64(config.shardBytesMax());
  }

  public static TopicConfig topicConfig(ByteReader in) {
    return new TopicConfig(in.i64(), in.i64(), in.i64());
  }

  public static void write(Bytes out, TopicInfo topic) {
    out.i32(topic.id()).text(topic.name()).i32(topic.shards());
    write(out, topic.config());
    out.u8(topic.state().ordinal()).i64(topic.createdMillis());
  }

  public static TopicInfo topic(ByteReader in) {
    return new TopicInfo(
        in.i32(),
        in.text(),
        in.i32(),
        topicConfig(in),
        constant(TopicInfo.State.values(), in.u8()),
        in.i64());
  }

  /**
   * A group has a name: null in its place says that the number of the form follows. One that was
   * seen by the clock is written as the first build wrote it: if it only shares its shards out, in
   * the form of before there were policies.
   */
  public static void write(Bytes out, GroupInfo group) {
    boolean clock = group.clockMillis() != GroupInfo.NO_CLOCK;
    boolean plain = clock && group.policy().equals(GroupPolicy.SHARDED);
    out.text(null).u8(plain ? GROUP_FORM_PLAIN : clock ? GROUP_FORM_POLICY : GROUP_FORM);
    out.text(group.name());
    if (plain) {
      out.text(group.mode());
    } else {
      write(out, group.policy());
    }
    out.i32(group.subscriptions().size());
    group
        .subscriptions()
        .forEach(
            (topic, seen) -> {
              out.text(topic);
              if (!clock) {
                out.i64(seen);
              }
            });
    write(out, group.start());
    out.i64(group.createdMillis()).i64(clock ? group.clockMillis() : group.seenMillis());
    out.text(group.assignor());
  }

  /**
   * Also in the first form, which began with the name and knew no assignor. Forms of before {@link
   * #GROUP_FORM} say by the clock when a group was seen. That cannot be compared with active time:
   * such a group counts as seen when active time began.
   */
  public static GroupInfo group(ByteReader in) {
    String name = in.text();
    boolean first = name != null;
    int form = 1;
    if (!first) {
      form = form("a group's record", in.u8(), GROUP_FORM_PLAIN, GROUP_FORM);
      name = in.text();
    }
    GroupPolicy policy = form >= GROUP_FORM_POLICY ? policy(in) : GroupPolicy.of(in.text());
    SortedMap<String, Long> topics = new TreeMap<>();
    for (int count = in.count(); count > 0; count--) {
      topics.put(in.neededText(), form == GROUP_FORM ? in.i64() : 0);
    }
    StartAt start = start(in);
    long created = in.i64();
    long seen = in.i64();
    return new GroupInfo(
        name,
        policy,
        topics,
        start,
        created,
        form == GROUP_FORM ? seen : 0,
        first ? GroupInfo.ASSIGNOR_DEFAULT : in.text(),
        form == GROUP_FORM ? GroupInfo.NO_CLOCK : seen);
  }

  static void version(String what, int version, int known) {
    form(what, version, known, known);
  }

  private static int form(String what, int form, int from, int to) {
    if (form < from || form > to) {
      throw new MalformedException(
          Refusal.WRONG_VERSION, what + " of form " + form + ": this node reads up to " + to);
    }
    return form;
  }

  public static void write(Bytes out, MoveRecord move) {
    out.i64(move.timeMillis()).text(move.group()).text(move.topic());
    write(out, move.shard());
    out.text(move.from()).text(move.to()).text(move.reason());
    writeNumber(out, move.pauseMillis());
    writeNumber(out, move.releaseMillis());
    writeNumber(out, move.redelivered());
    out.bool(move.capped()).i64(move.epoch());
    writeNumber(out, move.committed());
  }

  public static MoveRecord move(ByteReader in) {
    return new MoveRecord(
        in.i64(),
        in.text(),
        in.text(),
        shard(in),
        in.text(),
        in.text(),
        in.text(),
        number(in),
        number(in),
        number(in),
        in.bool(),
        in.i64(),
        number(in));
  }

  public static void writeMoves(Bytes out, Collection<MoveRecord> moves) {
    out.i32(moves.size());
    moves.forEach(move -> write(out, move));
  }

  public static List<MoveRecord> moves(ByteReader in) {
    int count = in.count();
    List<MoveRecord> moves = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      moves.add(move(in));
    }
    return List.copyOf(moves);
  }

  /** A number that may be unknown. */
  private static void writeNumber(Bytes out, Long number) {
    out.bool(number != null);
    if (number != null) {
      out.varlong(number);
    }
  }

  private static Long number(ByteReader in) {
    return in.bool() ? (Long) in.varlong() : null;
  }

  public static void writeTexts(Bytes out, List<String> texts) {
    out.i32(texts.size());
    texts.forEach(out::text);
  }

  public static List<String> texts(ByteReader in) {
    int count = in.count();
    List<String> texts = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      texts.add(in.neededText());
    }
    return List.copyOf(texts);
  }

  public static void writeNumbers(Bytes out, Collection<Long> numbers) {
    out.i32(numbers.size());
    numbers.forEach(out::i64);
  }

  public static List<Long> numbers(ByteReader in) {
    int count = in.count();
    List<Long> numbers = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      numbers.add(in.i64());
    }
    return List.copyOf(numbers);
  }

  static <E extends Enum<E>> E constant(E[] values, int ordinal) {
    if (ordinal >= values.length) {
      throw new MalformedException(
          Refusal.INVALID, "malformed record: no " + values[0].getDeclaringClass() + " " + ordinal);
    }
    return values[ordinal];
  }
}
