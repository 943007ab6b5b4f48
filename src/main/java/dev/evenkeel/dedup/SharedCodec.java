package dev.evenkeel.dedup;

import dev.evenkeel.protocol.wire.Bytes;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads shared automata, steps and replies. All begin with a version. An automaton with
 * another version or malformed bytes is dropped, which costs at most one more run of a handler.
 */
public final class SharedCodec {
  private static final byte VERSION = 3;
  private static final int NONE = 0xff;

  /** Longest name of a member; ids of cluster members are shorter. */
  private static final int MEMBER_BYTES_MAX = 250;

  private static final Step.Kind[] KINDS = Step.Kind.values();
  private static final Answer[] ANSWERS = Answer.values();
  private static final Departure[] DEPARTURES = Departure.values();

  private SharedCodec() {}

  /** Reads what {@link #put(Bytes, Automaton)} wrote; an unreadable automaton is in state INIT. */
  static Automaton<SharedClaim> automaton(byte[] stored) {
    if (stored.length == 0 || stored[0] != VERSION) {
      return new Automaton<>();
    }
    Reader in = new Reader(stored);
    try {
      return new Automaton<>(in.claim(), in.claim());
    } catch (BufferUnderflowException e) {
      return new Automaton<>();
    }
  }

  static void put(Bytes out, Automaton<SharedClaim> automaton) {
    put(out.u8(VERSION), automaton.head());
    put(out, automaton.tail());
  }

  /** Writes the steps for one bucket, in their order. */
  public static byte[] steps(List<Step> steps) {
    Bytes out = new Bytes(128 * steps.size()).u8(VERSION);
    for (Step each : steps) {
      put(out.u8(each.kind().ordinal()), each.key());
      put(out, each.claim());
    }
    return out.toArray();
  }

  /** Reads what {@link #steps(List)} wrote. */
  public static List<Step> steps(byte[] bytes) {
    return all(checked(bytes), SharedCodec::step);
  }

  private static Step step(Reader in) {
    Step.Kind kind = KINDS[in.u8()];
    DedupKey key = in.key();
    SharedClaim claim = in.claim();
    if (claim == null) {
      throw new IllegalArgumentException("a dedup step without a claim");
    }
    return new Step(kind, key, claim);
  }

  public static byte[] replies(SharedBucket.Replies replies) {
    Bytes out = new Bytes(128 * replies.replies().size()).u8(VERSION).i32(replies.overflowed());
    for (StepReply each : replies.replies()) {
      out.u8(ordinal(each.answer())).u8(ordinal(each.departure())).u8(each.evicted());
      put(out, each.head());
    }
    return out.toArray();
  }

  /** Reads what {@link #replies(SharedBucket.Replies)} wrote. */
  public static SharedBucket.Replies replies(byte[] bytes) {
    Reader in = checked(bytes);
    int overflowed = in.bytes.getInt();
    List<StepReply> replies =
        all(in, it -> new StepReply(it.of(ANSWERS), it.of(DEPARTURES), it.u8(), it.claim()));
    return new SharedBucket.Replies(replies, overflowed);
  }

  /**
   * Writes what a sweep of a bucket found.
   *
   * @param members names of members that have claims there
   */
  public static byte[] swept(List<SharedBucket.Swept> swept, Set<String> members) {
    Bytes out = new Bytes(128 * swept.size()).u8(VERSION).i32(members.size());
    members.forEach(each -> put(out, each));
    for (SharedBucket.Swept each : swept) {
      put(out, each.key());
      put(out.u8(each.evicted()), each.head());
    }
    return out.toArray();
  }

  /**
   * Reads what {@link #swept(List, Set)} wrote.
   *
   * @param members takes the names of members
   */
  public static List<SharedBucket.Swept> swept(byte[] bytes, Set<String> members) {
    Reader in = checked(bytes);
    for (int i = in.bytes.getInt(); i > 0; i--) {
      members.add(in.member());
    }
    return all(in, it -> new SharedBucket.Swept(it.key(), it.u8(), it.claim()));
  }

  /** Writes keys that a look into a bucket found. */
  public static byte[] inFlight(List<KeyInFlight> keys) {
    Bytes out = new Bytes(64 * keys.size()).u8(VERSION);
    for (KeyInFlight each : keys) {
      put(out, each.key());
      put(out, each.head());
      put(out.i64(each.overdueMillis()), each.tail());
    }
    return out.toArray();
  }

  /** Reads what {@link #inFlight(List)} wrote. */
  public static List<KeyInFlight> inFlight(byte[] bytes) {
    return all(
        checked(bytes),
        it ->
            new KeyInFlight(
                it.key(), Objects.requireNonNull(it.place()), it.bytes.getLong(), it.place()));
  }

  private static void put(Bytes out, KeyInFlight.@Nullable Place place) {
    put(out, place == null ? "" : place.member());
    if (place != null) {
      out.i64(place.sinceMillis());
    }
  }

  private static <T> List<T> all(Reader in, Function<Reader, T> item) {
    List<T> items = new ArrayList<>();
    while (in.bytes.hasRemaining()) {
      items.add(item.apply(in));
    }
    return items;
  }

  private static int ordinal(@Nullable Enum<?> value) {
    return value == null ? NONE : value.ordinal();
  }

  static void put(Bytes out, DedupKey key) {
    out.i64(key.high()).i64(key.low());
  }

  private static void put(Bytes out, @Nullable SharedClaim claim) {
    if (claim == null) {
      out.u8(NONE);
      return;
    }
    put(out, claim.worker.member());
    out.i64(claim.worker.shard()).i64(claim.worker.work());
    out.i64(claim.token).i64(claim.headMillisMax).i64(claim.waitsUntilMillis());
    out.i64(claim.sinceMillis);
  }

  private static void put(Bytes out, String member) {
    byte[] bytes = member.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > MEMBER_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the name of a member has more than " + MEMBER_BYTES_MAX + " bytes");
    }
    out.u8(bytes.length).raw(bytes);
  }

  private static Reader checked(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != VERSION) {
      throw new IllegalArgumentException("the bytes have another version");
    }
    return new Reader(bytes);
  }

  /**
   * Reads what follows the version. It reuses the last worker, because most claims in one message
   * belong to one member.
   */
  private static final class Reader {
    final ByteBuffer bytes;
    private byte @Nullable [] name;
    private @Nullable Worker worker;

    Reader(byte[] versioned) {
      bytes = ByteBuffer.wrap(versioned, 1, versioned.length - 1);
    }

    int u8() {
      return bytes.get() & 0xff;
    }

    <T> @Nullable T of(T[] values) {
      int ordinal = u8();
      return ordinal == NONE ? null : values[ordinal];
    }

    DedupKey key() {
      return new DedupKey(bytes.getLong(), bytes.getLong());
    }

    @Nullable SharedClaim claim() {
      int length = u8();
      if (length == NONE) {
        return null;
      }
      byte[] read = new byte[length];
      bytes.get(read);
      Worker of = worker(read, bytes.getLong(), bytes.getLong());
      return new SharedClaim(
          of, bytes.getLong(), bytes.getLong(), bytes.getLong(), bytes.getLong());
    }

    String member() {
      byte[] read = new byte[u8()];
      bytes.get(read);
      return new String(read, StandardCharsets.UTF_8);
    }

    KeyInFlight.@Nullable Place place() {
      String member = member();
      return member.isEmpty() ? null : new KeyInFlight.Place(member, bytes.getLong());
    }

    private Worker worker(byte[] read, long shard, long work) {
      Worker of = worker;
      if (of == null || !Arrays.equals(read, name)) {
        of = new Worker(new String(read, StandardCharsets.UTF_8), shard, work);
      } else if (of.shard() != shard || of.work() != work) {
        of = new Worker(of.member(), shard, work);
      }
      name = read;
      worker = of;
      return of;
    }
  }
}
