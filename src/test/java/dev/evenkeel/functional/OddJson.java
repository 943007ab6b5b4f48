package dev.evenkeel.functional;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** JSON that is right but for one value. */
public final class OddJson {
  /** Deeper than any reader goes. */
  private static final String DEEP = "[".repeat(3_000);

  private OddJson() {}

  public static byte[] of(JsonObject json, Random random) {
    JsonObject changed = json.copy();
    change(changed, random);
    String text = changed.encode();
    if (random.nextInt(50) == 0) {
      text = text.replaceFirst(":[^,}]*", ":" + DEEP);
    }
    return text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
  }

  private static void change(Object container, Random random) {
    if (container instanceof JsonObject object && !object.isEmpty()) {
      List<String> names = new ArrayList<>(object.fieldNames());
      String name = names.get(random.nextInt(names.size()));
      Object value = object.getValue(name);
      if (goesInto(value, random)) {
        change(value, random);
      } else if (random.nextInt(5) == 0) {
        object.remove(name);
      } else {
        object.put(name, odd(random));
      }
    } else if (container instanceof JsonArray array && !array.isEmpty()) {
      int index = random.nextInt(array.size());
      Object value = array.getValue(index);
      if (goesInto(value, random)) {
        change(value, random);
      } else if (random.nextInt(3) == 0) {
        array.remove(index);
      } else {
        array.set(index, odd(random));
      }
    }
  }

  private static boolean goesInto(Object value, Random random) {
    boolean filled =
        value instanceof JsonObject object && !object.isEmpty()
            || value instanceof JsonArray array && !array.isEmpty();
    return filled && random.nextInt(4) > 0;
  }

  private static Object odd(Random random) {
    return switch (random.nextInt(14)) {
      case 0 -> null;
      case 1 -> true;
      case 2 -> 0;
      case 3 -> -1;
      case 4 -> Long.MAX_VALUE;
      case 5 -> Long.MIN_VALUE;
      case 6 -> 1e300;
      case 7 -> "";
      case 8 -> "*";
      case 9 -> "x".repeat(1 + random.nextInt(5_000));
      case 10 -> "a\u0000\n\"/../\uffff";
      case 11 -> new JsonArray().add(1).addNull().add("x");
      case 12 -> new JsonObject().put("a", new JsonObject());
      default -> random.nextInt();
    };
  }
}
