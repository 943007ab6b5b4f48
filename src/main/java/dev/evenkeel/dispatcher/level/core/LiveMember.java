package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.protocol.Limits;
import org.jspecify.annotations.Nullable;

/**
 * A member as the registry knows it.
 *
 * @param instance this run of the member
 * @param stallTimeoutMillis how long it may hold the round without finishing anything
 * @param crashesMax after so many deaths of members that had it in hand a message becomes a dead
 *     letter, if this member is asked; 0: never
 * @param closing it leaves: it is handed nothing more, and what it has in hand may still end
 * @param user whose program it is; null: unknown
 * @param node at which it listens, as its last heartbeat says that was accepted; null: unknown
 * @param heard it has sent this dispatcher a heartbeat; otherwise only the registry names it, and
 *     it may be gone
 */
public record LiveMember(
    String name,
    String instance,
    long stallTimeoutMillis,
    int crashesMax,
    boolean closing,
    @Nullable String user,
    @Nullable String node,
    boolean heard) {
  /** Of an unknown user, heard, and with the default of {@code crashesMax}. */
  public LiveMember(String name, String instance, long stallTimeoutMillis, boolean closing) {
    this(name, instance, stallTimeoutMillis, Limits.CRASHES_MAX_DEFAULT, closing, null, null, true);
  }
}
