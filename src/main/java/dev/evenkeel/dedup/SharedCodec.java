package dev.evenkeel.dedup;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Bytes of shared automata, requests and replies. Each begins with a version; what has another one
 * or is malformed counts as no automaton, and an automaton that is lost costs one more run.
 */
public final class SharedCodec {
  private static final byte VERSION = 3;
  private static final int NONE = 0xff;

  /** More than any id of a cluster's member. */
  private static final int MEMBER_BYTES_MAX = 250;

  private static final int CLAIM_BYTES = 1 + 6 * Long.BYTES;

  private static final StepRequest.Kind[] KINDS = StepRequest.Kind.values();
  private static final Answer[] ANSWERS = Answer.values();
  private static final Departure[] DEPARTURES = Departure.values();

  private SharedCodec() {}

  /** The automaton of {@code stored}; null, or what cannot be read, is one in INIT. */
  static Automaton<SharedClaim> automaton(byte[] stored) {
    if (stored != null && stored.length > 0 && stored[0] == VERSION) {
      try {
        ByteBuffer in = ByteBuffer.wrap(stored, 1, stored.length - 1);
        return new Automaton<>(claim(in), claim(in));
      } catch (BufferUnderflowException e) {
        return new Automaton<>();
      }
    }
    return new Automaton<>();
  }

  /** Of an automaton; null for one in INIT. */
  static byte[] bytes(Automaton<SharedClaim> automaton) {
    if (automaton.head() == null) {
      return null;
    }
    byte[] head = name(automaton.head());
    byte[] tail = name(automaton.tail());
    ByteBuffer out = ByteBuffer.allocate(1 + size(head) + size(tail)).put(VERSION);
    put(out, automaton.head(), head);
    put(out, automaton.tail(), tail);
    return out.array();
  }

  public static byte[] bytes(StepRequest request) {
    byte[] name = name(request.claim());
    ByteBuffer out = ByteBuffer.allocate(2 + size(name));
    out.put(VERSION).put((byte) request.kind().ordinal());
    put(out, request.claim(), name);
    return out.array();
  }

  /** Of {@link #bytes(StepRequest)}. */
  public static StepRequest request(byte[] bytes) {
    ByteBuffer in = checked(bytes);
    return new StepRequest(KINDS[in.get()], claim(in));
  }

  public static byte[] bytes(StepReply reply) {
    byte[] name = name(reply.head());
    ByteBuffer out = ByteBuffer.allocate(4 + size(name)).put(VERSION);
    put(out, reply, name);
    return out.array();
  }

  private static void put(ByteBuffer out, StepReply reply, byte[] name) {
    out.put((byte) (reply.answer() == null ? NONE : reply.answer().ordinal()));
    out.put((byte) (reply.departure() == null ? NONE : reply.departure().ordinal()));
    out.put((byte) reply.evicted());
    put(out, reply.head(), name);
  }

  /** Of {@link #bytes(StepReply)}. */
  public static StepReply reply(byte[] bytes) {
    return reply(checked(bytes), new Names());
  }

  private static StepReply reply(ByteBuffer in, Names names) {
    int answer = in.get() & 0xff;
    int departure = in.get() & 0xff;
    int evicted = in.get();
    return new StepReply(
        answer == NONE ? null : ANSWERS[answer],
        departure == NONE ? null : DEPARTURES[departure],
        claim(in, names),
        evicted);
  }

  /** Of steps of one bucket, in their order. */
  public static byte[] steps(List<KeyedStep> steps) {
    Names names = new Names();
    int size = 1;
    for (KeyedStep each : steps) {
      size += 1 + DedupKey.BYTES + size(names.bytes(each.request().claim()));
    }
    ByteBuffer out = ByteBuffer.allocate(size).put(VERSION);
    for (KeyedStep each : steps) {
      out.put((byte) each.request().kind().ordinal());
      put(out, each.key());
      put(out, each.request().claim(), names.bytes(each.request().claim()));
    }
    return out.array();
  }

  /** Of {@link #steps(List)}. */
  public static List<KeyedStep> steps(byte[] bytes) {
    ByteBuffer in = checked(bytes);
    Names names = new Names();
    List<KeyedStep> steps = new ArrayList<>();
    while (in.hasRemaining()) {
      StepRequest.Kind kind = KINDS[in.get()];
      DedupKey key = key(in);
      steps.add(new KeyedStep(key, new StepRequest(kind, claim(in, names))));
    }
    return steps;
  }

  public static byte[] replies(SharedBucket.Replies replies) {
    Names names = new Names();
    int size = 1 + Integer.BYTES;
    for (StepReply each : replies.replies()) {
      size += 3 + size(names.bytes(each.head()));
    }
    ByteBuffer out = ByteBuffer.allocate(size).put(VERSION).putInt(replies.overflowed());
    for (StepReply each : replies.replies()) {
      put(out, each, names.bytes(each.head()));
    }
    return out.array();
  }

  /** Of {@link #replies(SharedBucket.Replies)}. */
  public static SharedBucket.Replies replies(byte[] bytes) {
    ByteBuffer in = checked(bytes);
    int overflowed = in.getInt();
    Names names = new Names();
    List<StepReply> replies = new ArrayList<>();
    while (in.hasRemaining()) {
      replies.add(reply(in, names));
    }
    return new SharedBucket.Replies(replies, overflowed);
  }

  public static byte[] swept(List<SharedBucket.Swept> swept) {
    Names names = new Names();
    int size = 1;
    for (SharedBucket.Swept each : swept) {
      size += DedupKey.BYTES + 1 + size(names.bytes(each.head()));
    }
    ByteBuffer out = ByteBuffer.allocate(size).put(VERSION);
    for (SharedBucket.Swept each : swept) {
      put(out, each.key());
      out.put((byte) each.evicted());
      put(out, each.head(), names.bytes(each.head()));
    }
    return out.array();
  }

  /** Of {@link #swept(List)}. */
  public static List<SharedBucket.Swept> swept(byte[] bytes) {
    ByteBuffer in = checked(bytes);
    Names names = new Names();
    List<SharedBucket.Swept> swept = new ArrayList<>();
    while (in.hasRemaining()) {
      DedupKey key = key(in);
      int evicted = in.get();
      swept.add(new SharedBucket.Swept(key, claim(in, names), evicted));
    }
    return swept;
  }

  private static void put(ByteBuffer out, DedupKey key) {
    out.putLong(key.high()).putLong(key.low());
  }

  private static DedupKey key(ByteBuffer in) {
    return new DedupKey(in.getLong(), in.getLong());
  }

  private static ByteBuffer checked(byte[] bytes) {
    if (bytes.length == 0 || bytes[0] != VERSION) {
      throw new IllegalArgumentException("a step of another version");
    }
    return ByteBuffer.wrap(bytes, 1, bytes.length - 1);
  }

  private static byte[] name(Claim claim) {
    if (claim == null) {
      return null;
    }
    byte[] name = claim.worker.member().getBytes(StandardCharsets.UTF_8);
    if (name.length > MEMBER_BYTES_MAX) {
      throw new IllegalArgumentException(
          "the name of a member has more than " + MEMBER_BYTES_MAX + " bytes");
    }
    return name;
  }

  private static int size(byte[] name) {
    return name == null ? 1 : CLAIM_BYTES + name.length;
  }

  private static void put(ByteBuffer out, SharedClaim claim, byte[] name) {
    if (claim == null) {
      out.put((byte) NONE);
      return;
    }
    out.put((byte) name.length).put(name);
    out.putLong(claim.worker.lane()).putLong(claim.worker.work()).putLong(claim.token);
    out.putLong(claim.headMillisMax).putLong(claim.waitsUntilMillis());
    out.putLong(claim.sinceMillis);
  }

  private static SharedClaim claim(ByteBuffer in) {
    return claim(in, new Names());
  }

  private static SharedClaim claim(ByteBuffer in, Names names) {
    int length = in.get() & 0xff;
    if (length == NONE) {
      return null;
    }
    byte[] name = new byte[length];
    in.get(name);
    Worker worker = names.worker(name, in.getLong(), in.getLong());
    return new SharedClaim(worker, in.getLong(), in.getLong(), in.getLong(), in.getLong());
  }

  /** The last worker: most of what goes together is one member's, which is then kept once. */
  private static final class Names {
    private byte[] bytes;
    private String member;
    private Worker worker;

    byte[] bytes(Claim claim) {
      if (claim == null) {
        return null;
      }
      if (!claim.worker.member().equals(member)) {
        bytes = name(claim);
        member = claim.worker.member();
      }
      return bytes;
    }

    Worker worker(byte[] name, long lane, long work) {
      boolean same = Arrays.equals(name, bytes);
      if (!same) {
        bytes = name;
        member = new String(name, StandardCharsets.UTF_8);
      }
      if (!same || worker.lane() != lane || worker.work() != work) {
        worker = new Worker(member, lane, work);
      }
      return worker;
    }
  }
}
