package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.util.Sha256;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;

/**
 * Counts the heap that fetches take while they wait, so that no user takes it all. What a filter
 * takes has little to do with its length on the wire: a thousand short conditions are 11 KB there,
 * and more than 100 KB here. Equal filters are one object, and count once for each user.
 *
 * <p>Runs on one context.
 */
final class FetchMemory {
  /**
   * What a fetch takes beside its filter: its request, its names, its places among those that wait,
   * a timer, and the handler of its answer.
   */
  static final int FETCH_BYTES = 1_024;

  /** The least that a condition takes, see {@link #filterBytes}: a text with its array. */
  private static final int TEXT_BYTES_MIN = 24 + 16 + 8;

  /** A filter of a user, or its place in the index of a shard. */
  private record Part(String user, Shard shard, MessageFilter filter) {}

  private final FairShare share;

  /** How many fetches of a user need a part. */
  private final Map<Part, Integer> parts = new HashMap<>();

  private final Map<MessageFilter, Known> filters = new WeakHashMap<>();

  /** By the digest of what they were read from. */
  private final Map<ByteBuffer, Known> read = new HashMap<>();

  private final ReferenceQueue<MessageFilter> unused = new ReferenceQueue<>();

  /** A filter that is in use, or was. */
  private static final class Known extends WeakReference<MessageFilter> {
    /** Null: it was not read. */
    private final ByteBuffer digest;

    Known(MessageFilter filter, ByteBuffer digest, ReferenceQueue<MessageFilter> unused) {
      super(filter, unused);
      this.digest = digest;
    }
  }

  /**
   * @param share divides the bytes among users
   */
  FetchMemory(FairShare share) {
    this.share = share;
  }

  /** The filter itself, or one that is equal and in use. */
  MessageFilter same(MessageFilter filter) {
    return same(filter, null);
  }

  private MessageFilter same(MessageFilter filter, ByteBuffer digest) {
    Known known = filters.get(filter);
    MessageFilter same = known == null ? null : known.get();
    if (same == null) {
      Known added = new Known(filter, digest, unused);
      filters.put(filter, added);
      if (digest != null) {
        read.put(digest, added);
      }
      return filter;
    }
    return same;
  }

  /**
   * Reads a filter of so many fetches, unless it is one that is in use: clients send theirs with
   * each request. A user who has no room left for it is refused before, as reading a large one
   * takes long.
   *
   * @param user null: there are no users
   * @param written as at the end of a {@link FetchRequest}
   * @throws dev.evenkeel.protocol.RefusedException OVERLOADED; INVALID
   */
  MessageFilter read(String user, int fetches, ByteBuffer written) {
    forgetUnused();
    int conditions = Math.min(FetchRequest.conditions(written), MessageFilter.CONDITIONS_MAX);
    if (conditions == 0) {
      return FetchRequest.filter(written);
    }
    ByteBuffer digest = digest(written);
    Known known = read.get(digest);
    MessageFilter same = known == null ? null : known.get();
    if (same != null) {
      return same;
    }
    long least = (long) FETCH_BYTES * fetches + (long) TEXT_BYTES_MIN * conditions;
    FairShare.Account account = share.of(user);
    account.take(least);
    account.give(least);
    return same(FetchRequest.filter(written), digest);
  }

  /** So strong that nobody finds two filters with the same one. */
  private static ByteBuffer digest(ByteBuffer written) {
    MessageDigest digest = Sha256.digest();
    digest.update(written.duplicate());
    return ByteBuffer.wrap(digest.digest());
  }

  private void forgetUnused() {
    for (Reference<?> gone = unused.poll(); gone != null; gone = unused.poll()) {
      ByteBuffer digest = ((Known) gone).digest;
      if (digest != null) {
        read.remove(digest, gone);
      }
    }
  }

  /**
   * Counts the fetches of a request, each until {@link #give}.
   *
   * @param user null: there are no users
   * @param fetches all with the same filter
   * @throws dev.evenkeel.protocol.RefusedException OVERLOADED if the user, or all, have too much
   */
  void take(String user, List<FetchRequest> fetches) {
    long bytes = (long) FETCH_BYTES * fetches.size();
    boolean filtered = fetches.get(0).filters();
    if (filtered) {
      for (FetchRequest each : fetches) {
        bytes += add(user, each);
      }
    }
    FairShare.Account account = share.of(user);
    if (!account.tryTake(bytes)) {
      if (filtered) {
        fetches.forEach(each -> remove(user, each));
      }
      throw account.refusal();
    }
  }

  /** A fetch waits no more. */
  void give(String user, FetchRequest fetch) {
    long bytes = FETCH_BYTES;
    if (fetch.filters()) {
      bytes += remove(user, fetch);
    }
    share.of(user).give(bytes);
  }

  private long add(String user, FetchRequest fetch) {
    MessageFilter filter = fetch.filter();
    boolean first = parts.merge(new Part(user, null, filter), 1, Integer::sum) == 1;
    boolean firstOfShard = parts.merge(new Part(user, fetch.shard(), filter), 1, Integer::sum) == 1;
    return (first ? filterBytes(filter) : 0) + (firstOfShard ? indexBytes(filter) : 0);
  }

  private long remove(String user, FetchRequest fetch) {
    MessageFilter filter = fetch.filter();
    boolean last = removed(new Part(user, null, filter));
    boolean lastOfShard = removed(new Part(user, fetch.shard(), filter));
    return (last ? filterBytes(filter) : 0) + (lastOfShard ? indexBytes(filter) : 0);
  }

  private boolean removed(Part part) {
    return parts.computeIfPresent(part, (any, count) -> count == 1 ? null : count - 1) == null;
  }

  /** How many parts are counted. */
  int parts() {
    return parts.size();
  }

  /** An array of bytes with its header, at a place of the heap that 8 divides. */
  private static long array(long bytes) {
    return 16 + (bytes + 7) / 8 * 8;
  }

  /**
   * An estimate of the heap that a filter takes, with 4 bytes for a reference, and 8 for all that
   * begins at a multiple of 8. For each condition there is its text, a {@code String} (24 bytes)
   * with an array; the value in it once more as an array; and a place in a list or an array for
   * each. For the key and each header with conditions there is a {@code Field} (24 bytes) with the
   * header's name and two arrays. Never less than it takes, as long as the texts are Latin-1.
   */
  static long filterBytes(MessageFilter filter) {
    long bytes = 200;
    for (String text : filter.texts()) {
      bytes += 24 + array(text.length()) + 8;
    }
    for (MessageFilter.Field field : filter.fields()) {
      bytes += 24 + 8 + 2 * 24 + (field.header() == null ? 0 : array(field.header().length));
      for (byte[] value : field.values()) {
        bytes += array(value.length) + 8;
      }
      for (byte[] prefix : field.prefixes()) {
        bytes += array(prefix.length) + 8;
      }
    }
    return bytes;
  }

  /**
   * An estimate of what a filter takes in the {@link FilterIndex} of a shard: its entry with its
   * set (300 bytes), the tables of its header with their maps (500 bytes), and for each value or
   * prefix of that header the node of a map (32 bytes), a slice (32 bytes), and two places in the
   * map's table. The index takes the conditions of one header, or of the key; which of them, only
   * it knows: so those of the largest count.
   */
  static long indexBytes(MessageFilter filter) {
    long most = 0;
    for (MessageFilter.Field field : filter.fields()) {
      most = Math.max(most, field.values().length + field.prefixes().length);
    }
    return 800 + most * (32 + 32 + 2 * 8);
  }
}
