package dev.evenkeel.protocol;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a quota limits. The order is part of the format of the meta log: add new kinds at the end.
 */
public enum QuotaKind implements Worded {
  /** What the producer of that name appends. */
  PRODUCER,
  /** What all programs of a user append. */
  PRINCIPAL,
  /** What all producers append to a topic. */
  TOPIC,
  /** What the members of a group fetch. */
  GROUP,
  /** How many messages the handlers of all members of a group start. It has no bytes. */
  GROUP_RATE;

  /** The kind as people write it, such as {@code group-rate}. */
  @Override
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * @throws RefusedException INVALID for any other text
   */
  public static QuotaKind of(@Nullable String word) {
    for (QuotaKind kind : values()) {
      if (kind.word().equals(word)) {
        return kind;
      }
    }
    throw Refusal.INVALID.error(
        "unknown kind of quota '%s': use %s",
        word == null ? "" : Names.printable(word),
        Arrays.stream(values()).map(QuotaKind::word).collect(Collectors.joining(", ")));
  }
}
