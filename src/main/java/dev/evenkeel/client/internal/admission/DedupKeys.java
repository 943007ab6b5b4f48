package dev.evenkeel.client.internal.admission;

import dev.evenkeel.client.ConsumerOptions.Dedup;
import dev.evenkeel.dedup.DedupKey;
import dev.evenkeel.dedup.DedupScope;
import dev.evenkeel.protocol.Message;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

/** What makes messages of a group the same as others. Not safe for threads. */
public final class DedupKeys {
  private final String group;
  private final Function<Message, byte[]> bytes;
  private final Map<String, DedupScope> scopes = new HashMap<>();

  /**
   * @param own the application's function, or null: as {@code dedup} says, and the payload if that
   *     is OFF, which is what would be worth it
   */
  public DedupKeys(String group, Dedup dedup, Function<Message, byte[]> own) {
    this.group = group;
    bytes = own != null ? own : dedup == Dedup.KEY ? Message::key : Message::payload;
  }

  /**
   * What identifies the work that a message asks for; null: nothing, it is like no other.
   *
   * @throws RuntimeException of the application's function
   */
  byte[] bytes(Message message) {
    return bytes.apply(message);
  }

  DedupKey key(String topic, byte[] of) {
    return scope(topic).key(of);
  }

  /** For measuring. */
  long digest(String topic, byte[] of) {
    return scope(topic).digest(of);
  }

  private DedupScope scope(String topic) {
    return scopes.computeIfAbsent(topic, any -> new DedupScope(group, topic));
  }
}
