package dev.evenkeel.bus;

import dev.evenkeel.bus.GroupFigure.Kind;
import dev.evenkeel.bus.GroupFigure.Section;
import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Values of figures of a group or of one member. A figure without a value is unknown.
 *
 * @param values none is null
 */
public record Figures(Map<GroupFigure, Number> values) {
  public static final Figures NONE = new Figures(Map.of());

  public Figures {
    Map<GroupFigure, Number> copy = new EnumMap<>(GroupFigure.class);
    copy.putAll(values);
    values = Collections.unmodifiableMap(copy);
  }

  private static List<GroupFigure> of(Section section) {
    return Stream.of(GroupFigure.values()).filter(each -> each.section() == section).toList();
  }

  /**
   * The figures of a section.
   *
   * @param inOrder their values, in the order in which the figures are declared
   */
  public static Figures of(Section section, long... inOrder) {
    Map<GroupFigure, Number> values = new EnumMap<>(GroupFigure.class);
    List<GroupFigure> figures = of(section);
    if (figures.size() != inOrder.length) {
      throw new IllegalArgumentException(section + " has " + figures.size() + " figures");
    }
    for (int i = 0; i < figures.size(); i++) {
      values.put(figures.get(i), inOrder[i]);
    }
    return new Figures(values);
  }

  /**
   * Reads what {@link #write} wrote. If one figure of the section has a value, the missing ones are
   * 0.
   */
  static Figures read(Section section, JsonObject json) {
    if (of(section).stream().allMatch(each -> json.getLong(each.key()) == null)) {
      return NONE;
    }
    return of(section, of(section).stream().mapToLong(it -> json.getLong(it.key(), 0L)).toArray());
  }

  /** Puts the figures of a section that are known into {@code json}. */
  public JsonObject write(Section section, JsonObject json) {
    for (GroupFigure each : of(section)) {
      if (values.containsKey(each)) {
        json.put(each.key(), values.get(each));
      }
    }
    return json;
  }

  /** All figures of a section; unknown ones are null. */
  public JsonObject json(Section section) {
    JsonObject json = new JsonObject();
    of(section).forEach(each -> json.put(each.key(), get(each)));
    return json;
  }

  /** Null if it is unknown. */
  public Number get(GroupFigure figure) {
    return values.get(figure);
  }

  /** The value of a figure that is known. */
  public long count(GroupFigure figure) {
    return values.get(figure).longValue();
  }

  /** The sums of the figures that both know; a figure that only one knows is taken as it is. */
  public Figures plus(Figures other) {
    Map<GroupFigure, Number> sums = new EnumMap<>(GroupFigure.class);
    sums.putAll(values);
    other.values.forEach(
        (figure, value) -> sums.merge(figure, value, (a, b) -> a.longValue() + b.longValue()));
    return new Figures(sums);
  }

  /** The figures of a member that has left: counters stay, everything else is 0. */
  public Figures past() {
    Map<GroupFigure, Number> past = new EnumMap<>(GroupFigure.class);
    values.forEach((figure, value) -> past.put(figure, figure.kind() == Kind.COUNTER ? value : 0L));
    return new Figures(past);
  }
}
