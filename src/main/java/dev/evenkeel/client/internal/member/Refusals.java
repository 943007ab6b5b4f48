package dev.evenkeel.client.internal.member;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;

/** Failures as refusals. */
final class Refusals {
  private Refusals() {}

  /** The refusal that {@code failure} is; anything else is an unknown outcome. */
  static RefusedException of(Throwable failure) {
    return failure instanceof RefusedException refused
        ? refused
        : new RefusedException(Refusal.INDETERMINATE, "failed: " + failure);
  }
}
