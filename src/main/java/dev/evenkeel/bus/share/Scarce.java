package dev.evenkeel.bus.share;

import java.util.Locale;

/** What is scarce, and divided among users. */
public enum Scarce {
  SESSIONS("sessions over HTTP"),
  CLAIMS("claims"),
  CANDIDATES("candidates"),
  TRACKS("tracks"),
  LISTENING("addresses to listen at");

  private final String words;

  Scarce(String words) {
    this.words = words;
  }

  /** In plural, as errors have it. */
  public String words() {
    return words;
  }

  /** The label of metrics, and the name in the API. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
