package dev.evenkeel.client.internal.consume;

/** A handler that hands messages on to others, of whom none may be there for some time. */
public interface MayBeAway {
  /** Whether nobody is there as far as it knows. It then looks again, for the next call. */
  boolean isAway();
}
