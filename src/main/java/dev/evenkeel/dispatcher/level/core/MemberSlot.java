package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One member as the level dispatcher sees it: its session, and what is handed to it in that
 * session, by number. What is sent and not confirmed is sent again from the first of it.
 *
 * <pre>
 * AWAY        nothing is handed out; a session is to be begun
 *   → STARTING  SessionStart is sent
 *       → AWAY        it failed
 *       → ANSWERED      answered, and waits for the others, or to join
 *           → LIVE    it takes part
 * LIVE → AWAY  set aside, or it says that the session is over
 * </pre>
 */
final class MemberSlot {
  enum State {
    AWAY,
    STARTING,
    ANSWERED,
    LIVE
  }

  /**
   * Most numbers from the lowest that has not ended to the next. A member whose oldest message does
   * not end waits there, so that its reports stay small.
   */
  static final int SPAN_MAX = 16_384;

  /** Most bytes of messages in one hand-out, unless one message is larger. */
  static final int HAND_OUT_BYTES_MAX = 512 << 10;

  static final int HAND_OUT_MESSAGES_MAX = 8_192;

  /** One is on its way while another is handled. */
  static final int HAND_OUTS_MAX = 2;

  /** How long who has no room is sent nothing, if it does not end anything. */
  private static final long NO_ROOM_MILLIS = 1_000;

  private static final int ROOM_FIRST = 32;

  final String name;
  final String instance;
  long stallMillis;
  boolean closing;

  /** Whose program it is; null: unknown. */
  @Nullable String user;

  /** Whether it has sent this dispatcher a heartbeat. */
  boolean heard;

  State state = State.AWAY;
  long session;

  /** The next SessionStart is not sent before. */
  long startMillis;

  /** Its answer, while answers of others are awaited. */
  @Nullable SessionState answer;

  int capacity;
  long reportNumber;

  /** It is not set aside before: that was promised. */
  long permittedUntilMillis;

  /** Since when something is handed out and nothing of it is confirmed, or −1. */
  long unconfirmedSinceMillis = -1;

  /** When its first message since it joined was due to be handed out, or −1. */
  long firstDueMillis = -1;

  /** A checkpoint is to be sent with the next hand-out. */
  boolean checkpointDue;

  /** How many messages it may be handed now; while handing out. */
  int credit;

  /** How many of these it is handed. */
  int handed;

  /** By number modulo the length, a power of two; null where it has ended. */
  private @Nullable Item[] ring = new Item[ROOM_FIRST];

  private long first;
  private long next;
  private long sent;

  /** The highest that {@link #sent} ever was. */
  private long everSent;

  private long received;
  private int items;
  private int turn;
  private int flying;
  private long retryMillis;

  /** It has no room, so nothing is sent before, or before it ends something. */
  private long noRoomUntilMillis;

  private long checkpointSentAt = -1;
  private long offsetsSent;
  private long offsetsKnown;

  MemberSlot(String name, String instance) {
    this.name = name;
    this.instance = instance;
  }

  /** Begins to count anew: nothing is in hand. */
  void begin() {
    Arrays.fill(ring, null);
    first = 0;
    next = 0;
    sent = 0;
    everSent = 0;
    received = 0;
    items = 0;
    turn++;
    flying = 0;
    retryMillis = 0;
    noRoomUntilMillis = 0;
    reportNumber = -1;
    unconfirmedSinceMillis = -1;
    checkpointDue = true;
    checkpointSentAt = -1;
    offsetsSent = 0;
    offsetsKnown = 0;
  }

  /** Those of the messages that it has in hand. */
  List<Item> inHand(Predicate<MessageId> which) {
    List<Item> found = new ArrayList<>();
    for (long each = first; each < next; each++) {
      Item item = at(each);
      if (item != null && which.test(item.id)) {
        found.add(item);
      }
    }
    return found;
  }

  /** Whether it has a message in hand that it must handle alone. */
  boolean isAlone() {
    return items == 1 && existing(first).isCareful();
  }

  /** Messages in hand. */
  int items() {
    return items;
  }

  long next() {
    return next;
  }

  long first() {
    return first;
  }

  int spanLeft() {
    return (int) (SPAN_MAX - (next - first));
  }

  /** The message of that number; null if it has ended. */
  @Nullable Item at(long number) {
    return number < first || number >= next ? null : ring[(int) number & ring.length - 1];
  }

  private Item existing(long number) {
    return Objects.requireNonNull(at(number));
  }

  /** Adds a message that the member has already. */
  void holds(Item item) {
    put(item);
    sent = next;
    everSent = next;
    received = next;
  }

  void hand(Item item, long now) {
    put(item);
    if (unconfirmedSinceMillis < 0) {
      unconfirmedSinceMillis = now;
    }
  }

  private void put(Item item) {
    if (next - first == ring.length) {
      @Nullable Item[] larger = new Item[ring.length * 2];
      for (long each = first; each < next; each++) {
        larger[(int) each & larger.length - 1] = ring[(int) each & ring.length - 1];
      }
      ring = larger;
    }
    ring[(int) next & ring.length - 1] = item;
    next++;
    items++;
  }

  /** The message of that number has ended, well or not. Null if it had before. */
  @Nullable Item end(long number) {
    Item item = at(number);
    if (item == null) {
      return null;
    }
    ring[(int) number & ring.length - 1] = null;
    items--;
    noRoomUntilMillis = 0;
    while (first < next && ring[(int) first & ring.length - 1] == null) {
      first++;
    }
    return item;
  }

  /** Takes away everything that it has in hand, in order. */
  List<Item> takeAll() {
    List<Item> taken = inHand(any -> true);
    begin();
    return taken;
  }

  // Sending

  boolean mayFlush(long now) {
    return sent < next && flying < HAND_OUTS_MAX && now >= Math.max(retryMillis, noRoomUntilMillis);
  }

  /** The next messages to be sent. The caller adds the checkpoint if it is due. */
  LevelAction.SendHandOut flush(
      long term,
      byte @Nullable [] checkpoint,
      Map<Integer, String> topicNames,
      CommittedOffsets offsets) {
    long from = sent;
    long bytes = 0;
    List<HandOut.Entry> messages = new ArrayList<>();
    Map<Integer, String> topics = new LinkedHashMap<>();
    int lastTopic = -1;
    while (sent < next && messages.size() < HAND_OUT_MESSAGES_MAX) {
      HandOut.Entry each = Objects.requireNonNull(existing(sent).entry);
      bytes += each.bytes();
      if (bytes > HAND_OUT_BYTES_MAX && !messages.isEmpty()) {
        break;
      }
      messages.add(each);
      sent++;
      int topic = each.id().shard().topicId();
      if (topic != lastTopic) {
        topics.put(topic, topicNames.get(topic));
        lastTopic = topic;
      }
    }
    if (checkpoint != null && sent > everSent) {
      // The member would ignore it in a hand-out of which it has everything already.
      checkpointDue = false;
      checkpointSentAt = sent - 1;
    }
    everSent = Math.max(everSent, sent);
    Map<Shard, Long> committed = offsets.since(offsetsSent);
    offsetsSent = offsets.version();
    flying++;
    return new LevelAction.SendHandOut(
        instance,
        turn,
        sent,
        new HandOut(term, session, from, checkpoint, topics, committed, messages));
  }

  /** It has got everything below {@code count}. */
  void confirmed(long count, long now) {
    long upTo = Math.min(count, next);
    if (upTo <= received) {
      return;
    }
    received = upTo;
    sent = Math.max(sent, received);
    unconfirmedSinceMillis = received == next ? -1 : now;
    if (checkpointSentAt >= 0 && checkpointSentAt < received) {
      checkpointSentAt = -1;
    }
    if (received == sent) {
      offsetsKnown = offsetsSent;
    }
  }

  /** A hand-out was answered. */
  void answered(LevelAction.SendHandOut sentOut, long count, long now) {
    confirmed(count, now);
    if (sentOut.turn() == turn) {
      flying--;
      if (count < sentOut.end()) {
        if (count >= sentOut.body().firstSequence() && first < count) {
          noRoomUntilMillis = now + NO_ROOM_MILLIS;
        }
        sendAgain();
      }
    }
  }

  void unanswered(LevelAction.SendHandOut sentOut, long retryAtMillis) {
    if (sentOut.turn() == turn) {
      retryMillis = retryAtMillis;
      sendAgain();
    }
  }

  private void sendAgain() {
    turn++;
    flying = 0;
    sent = received;
    offsetsSent = offsetsKnown;
    if (checkpointSentAt >= 0) {
      checkpointDue = true;
      checkpointSentAt = -1;
    }
  }
}
