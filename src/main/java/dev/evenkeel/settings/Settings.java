package dev.evenkeel.settings;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The settings of one kind, in the order of their JSON. */
public final class Settings {
  private final String kind;
  private final Map<String, Setting<?>> byKey = new LinkedHashMap<>();

  /**
   * @param kind what a setting is called in refusals
   */
  public Settings(String kind) {
    this.kind = kind;
  }

  String kind() {
    return kind;
  }

  /** All of them. */
  public Collection<Setting<?>> all() {
    return Collections.unmodifiableCollection(byKey.values());
  }

  /** All of them by their keys. */
  public Map<String, Setting<?>> byKey() {
    return Collections.unmodifiableMap(byKey);
  }

  /** The one with this key in JSON. */
  public Setting<?> of(String key) {
    Setting<?> found = byKey.get(key);
    if (found == null) {
      throw new IllegalArgumentException("no " + kind + " " + key);
    }
    return found;
  }

  /** Declares one. */
  public <T> Setting<T> add(String key, SettingType<T> type) {
    Setting<T> setting = new Setting<>(byKey.size(), key, type);
    byKey.put(key, setting);
    return setting;
  }

  /** Declares one that is like another one, of other settings: it stands for that one. */
  public <T> Setting<T> like(String key, Setting<T> other) {
    Setting<T> setting = other.copy(byKey.size(), key);
    byKey.put(key, setting);
    return setting;
  }

  public Setting<String> text(String key) {
    return add(key, SettingType.TEXT);
  }

  public Setting<List<String>> texts(String key) {
    return add(key, SettingType.TEXT.list());
  }

  public Setting<Boolean> flag(String key) {
    return add(key, SettingType.FLAG).unless(false);
  }

  public Setting<Long> number(String key) {
    return add(key, SettingType.WHOLE);
  }

  public Setting<Integer> integer(String key) {
    return add(key, SettingType.ofInt(SettingType.WHOLE));
  }

  public Setting<Integer> integer(String key, int usual, long from, long to, String help) {
    return integer(key).unless(usual).within(from, to).help(help);
  }

  /** Milliseconds. */
  public Setting<Long> time(String key, long usual, long from, long to, String help) {
    return time(key).unless(usual).within(from, to).help(help);
  }

  /** Milliseconds. */
  public Setting<Long> time(String key) {
    return add(key, SettingType.TIME);
  }

  /** Bytes. */
  public Setting<Long> size(String key) {
    return add(key, SettingType.SIZE);
  }

  /** Milliseconds; -1: off. */
  public Setting<Long> timeOrOff(String key) {
    return add(key, SettingType.orOff(SettingType.TIME)).from(-1);
  }

  /** Bytes; -1: off. */
  public Setting<Long> sizeOrOff(String key) {
    return add(key, SettingType.orOff(SettingType.SIZE)).from(-1);
  }

  /** A constant, in JSON by its name in small letters. */
  public <E extends Enum<E>> Setting<E> word(String key, Class<E> type) {
    return add(key, SettingType.word(key, type));
  }
}
