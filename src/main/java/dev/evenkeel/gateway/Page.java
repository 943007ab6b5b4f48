package dev.evenkeel.gateway;

import java.util.ArrayList;
import java.util.List;

/** Collects the items of an answer, up to a number of items and bytes. */
final class Page<T> {
  static final int LIMIT_MAX = 1_000;

  /** An answer ends at this size, however few items it has: 2 MiB. */
  static final int BYTES_MAX = 2 << 20;

  private final int limit;
  private final List<T> items = new ArrayList<>();
  private int bytes;

  Page(int limit) {
    this.limit = limit;
  }

  List<T> items() {
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

  void add(T item) {
    items.add(item);
  }
}
