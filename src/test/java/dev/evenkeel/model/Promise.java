package dev.evenkeel.model;

/**
 * What the documentation promises, in its own words, and what the model checks. A promise is kept
 * in one place: whoever finds it broken names it.
 */
public enum Promise {
  CONTENT("", ""),
  REFUSED("", ""),
  STORED_ONCE("", ""),
  IN_TIME("", ""),
  CANCELLED("", ""),
  FILTERED("", ""),
  FROM_LATEST("", ""),
  PAUSED("", ""),
  ONE_AT_A_TIME("", ""),
  AT_MOST_ONCE("", ""),
  ORDER_OF_KEYS("", ""),
  ORDER_OF_SHARDS("", ""),
  NOTHING_IS_LOST("", ""),
  DEAD_LETTERS("", ""),
  ATTEMPTS("", ""),
  STATE_COMES_ALONG("", ""),
  STATE_IS_EXACT("", ""),
  OUTPUTS("", ""),
  OUTPUTS_ONCE("", ""),
  DEDUP_ONE("", ""),
  DEDUP_LATER("", ""),
  RATE("", ""),
  ANSWERS("", ""),
  SKIPPED_IS_SAID("", ""),
  LAG("", ""),
  NOTHING_IS_LEFT("", "");

  /** The page below {@code src/site/markdown}. */
  final String page;

  /** Words of that page. */
  final String words;

  Promise(String page, String words) {
    this.page = page;
    this.words = words;
  }
}
