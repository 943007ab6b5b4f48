package dev.evenkeel.gateway;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;

/** Collects the items of an answer, up to a number of items and bytes. */
final class Page {
  static final int LIMIT_DEFAULT = 100;
  static final int LIMIT_MAX = 1_000;

  /** An answer ends at this size, however few items it has: 2 MiB. */
  static final int BYTES_MAX = 2 << 20;

  private final int limit;
  private final JsonArray items = new JsonArray();
  private int bytes;

  private Page(int limit) {
    this.limit = limit;
  }

  /** A page for as many items as the field {@code limit} of the request says. */
  static Page of(JsonObject request) {
    return new Page(limit(request));
  }

  /** The field {@code limit} of a request. */
  static int limit(JsonObject request) {
    return (int) JsonFields.number(request, "limit", LIMIT_DEFAULT, 1, LIMIT_MAX);
  }

  JsonArray items() {
    return items;
  }

  /** How many items still fit. */
  int itemsLeft() {
    return limit - items.size();
  }

  int bytesLeft() {
    return BYTES_MAX - bytes;
  }

  boolean full() {
    return itemsLeft() <= 0 || bytesLeft() <= 0;
  }

  /** Counts bytes that were read for the answer. */
  void count(int read) {
    bytes += read;
  }

  void add(JsonObject item) {
    items.add(item);
  }
}
