package dev.evenkeel.protocol;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map of limited size: when it is full, the least recently used entry goes. */
public final class NewestMap<K, V> extends LinkedHashMap<K, V> {
  private static final long serialVersionUID = 1L;
  private final int max;

  public NewestMap(int max) {
    super(16, 0.75f, true);
    this.max = max;
  }

  @Override
  protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
    return size() > max;
  }
}
