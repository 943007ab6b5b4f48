package dev.evenkeel.api;

import org.jspecify.annotations.Nullable;

/**
 * Where a value is in the JSON that is read, such as {@code messages[0].headers.a}.
 *
 * @param strict whether a record refuses fields that it does not have
 * @param around where what is around the value is; null: the value is all there is
 * @param step name of a field, or index of an item
 */
record JsonPath(boolean strict, @Nullable JsonPath around, Object step) {
  static final JsonPath STRICT = new JsonPath(true, null, "");
  static final JsonPath LENIENT = new JsonPath(false, null, "");

  JsonPath field(String name) {
    return new JsonPath(strict, this, name);
  }

  JsonPath item(int index) {
    return new JsonPath(strict, this, index);
  }

  @Override
  public String toString() {
    String before = around == null ? "" : around.toString();
    return step instanceof Integer
        ? before + "[" + step + "]"
        : before.isEmpty() ? step.toString() : before + "." + step;
  }
}
