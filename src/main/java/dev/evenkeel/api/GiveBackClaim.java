package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/** Gives the key of a claim back: the claim that waits for it begins. */
public record GiveBackClaim(@Inline InClaim in) {
  /**
   * The claim has ended.
   *
   * @param held whether it had the key until then; null if nobody knows. If it worked and this is
   *     false, another claim may have worked on the key at the same time
   */
  public record EndedClaim(String claim, @Nullable Boolean held) {}
}
