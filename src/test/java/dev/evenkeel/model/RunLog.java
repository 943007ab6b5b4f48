package dev.evenkeel.model;

import java.util.ArrayList;
import java.util.List;

/** What was done in a run, and when. */
final class RunLog {
  private final long began = System.nanoTime();
  private final List<String> lines = new ArrayList<>();

  synchronized void add(String line) {
    lines.add("%7.3f %s".formatted((System.nanoTime() - began) / 1e9, line));
  }

  @Override
  public synchronized String toString() {
    return String.join(System.lineSeparator(), lines);
  }
}
