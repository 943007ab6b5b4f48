package dev.evenkeel.settings;

import dev.evenkeel.protocol.Names;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Told;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Values of {@link Settings}. A subclass adds a getter and a setter for each. A null in JSON stands
 * for the default.
 *
 * @param <S> the subclass, which its setters return
 */
public abstract class SettingValues<S extends SettingValues<S>> {
  private final Settings settings;
  private final Object[] values;

  protected SettingValues(Settings settings) {
    this.settings = settings;
    values = settings.all().stream().map(Setting::unset).toArray();
  }

  /**
   * @throws RefusedException INVALID for an unknown key or a value of a wrong type
   */
  protected SettingValues(Settings settings, JsonObject json) {
    this(settings);
    Names.requireKnown(settings.kind(), json.fieldNames(), settings.byKey().keySet());
    for (String key : json.fieldNames()) {
      Object value = json.getValue(key);
      if (value != null) {
        Setting<?> setting = settings.of(key);
        try {
          values[setting.index()] = setting.fromJson(value);
        } catch (RefusedException refused) {
          String words = "bad configuration: " + refused.told().ofPrograms();
          throw Refusal.INVALID.error("%s", Told.as(words, refused.wordsOfCommands(), key));
        }
      }
    }
  }

  /** A copy. */
  protected SettingValues(SettingValues<S> other) {
    settings = other.settings;
    values = other.values.clone();
  }

  /** The JSON of other settings, as far as some of these stand for them. */
  public final JsonObject jsonOf(Settings others) {
    JsonObject json = new JsonObject();
    for (Setting<?> each : settings.all()) {
      Setting<?> origin = each.origin();
      if (origin != null && others.byKey().get(origin.key()) == origin) {
        json.put(origin.key(), json(each));
      }
    }
    return json;
  }

  /**
   * These settings as JSON, in the form that the constructor takes: all keys, with null for one
   * that is not set and has no fixed default.
   */
  public final JsonObject toJson() {
    JsonObject json = new JsonObject();
    settings.all().forEach(setting -> json.put(setting.key(), json(setting)));
    return json;
  }

  private <T> @Nullable Object json(Setting<T> setting) {
    return setting.toJson(given(setting));
  }

  /**
   * Checks the bounds of every number. Whoever uses the settings does so when it starts; it then
   * also checks which of them go together.
   *
   * @throws RefusedException INVALID for a value out of its bounds; the message names the bound
   */
  public final void check() {
    settings.all().forEach(setting -> setting.check(values[setting.index()]));
  }

  /** The value that was set, or the fixed default; null if there is neither. */
  @SuppressWarnings("unchecked")
  public final <T> @Nullable T given(Setting<T> setting) {
    return (T) values[setting.index()];
  }

  /** The value that was set, or what counts while none is. */
  public final <T> @Nullable T get(Setting<T> setting) {
    T value = given(setting);
    return value == null ? setting.usual() : value;
  }

  @SuppressWarnings("unchecked")
  protected final <T> S set(Setting<T> setting, @Nullable T value) {
    values[setting.index()] = value;
    return (S) this;
  }

  @Override
  public final boolean equals(Object other) {
    return other instanceof SettingValues<?> that
        && settings == that.settings
        && Arrays.equals(values, that.values);
  }

  @Override
  public final int hashCode() {
    return Arrays.hashCode(values);
  }

  @Override
  public final String toString() {
    return toJson().encode();
  }
}
