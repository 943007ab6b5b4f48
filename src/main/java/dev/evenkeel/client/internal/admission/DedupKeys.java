package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.protocol.Message;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** Computes the dedup keys of messages of a group. Not thread-safe. */
public final class DedupKeys {
  private final String group;
  private final Function<Message, byte[]> bytes;

  /** Whether what identifies the work is the payload itself. */
  private final boolean wholePayload;

  private final Map<String, DedupScope> scopes = new HashMap<>();

  // Most messages are of the topic of the one before.
  private String lastTopic;
  private DedupScope lastScope;

  /**
   * @param own the application's function; null: as {@code dedup} says, and the payload if dedup is
   *     OFF, to measure what it would save
   */
  public DedupKeys(String group, Dedup dedup, Function<Message, byte[]> own) {
    this.group = group;
    wholePayload = own == null && dedup != Dedup.KEY;
    bytes = own != null ? own : dedup == Dedup.KEY ? Message::key : Message::payload;
  }

  /**
   * What identifies the work that a message asks for; null: nothing, the message is like no other.
   *
   * @throws RuntimeException of the application's function
   */
  byte[] bytes(Message message) {
    return bytes.apply(message);
  }

  DedupKey key(String topic, byte[] of) {
    return scope(topic).key(of);
  }

  /** A short digest of a key, for measuring repetition. */
  long digest(String topic, byte[] of) {
    return scope(topic).digest(of);
  }

  /**
   * A key for people. Whoever may see figures of the group may see it, so it does not show a
   * payload, but a digest of it.
   */
  String text(String topic, byte[] of) {
    return wholePayload ? String.format("#%016x", digest(topic, of)) : HotKeys.text(of);
  }

  private DedupScope scope(String topic) {
    if (!topic.equals(lastTopic)) {
      lastScope = scopes.computeIfAbsent(topic, any -> new DedupScope(group, topic));
      lastTopic = topic;
    }
    return lastScope;
  }
}
