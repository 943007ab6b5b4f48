package dev.evenkeel.bus;

import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;

/**
 * Objects that verticles of one Vert.x share, because a verticle deployed by name has no
 * constructor arguments.
 */
public final class LocalObjects {
  private static final String MAP = "evenkeel.local";

  private LocalObjects() {}

  private record Holder(Object object) implements Shareable {}

  public static <T> void put(Vertx vertx, Class<T> type, T object) {
    map(vertx).put(type.getName(), new Holder(object));
  }

  /** The object of that type, or null if there is none. */
  public static <T> T get(Vertx vertx, Class<T> type) {
    Holder holder = map(vertx).get(type.getName());
    return holder == null ? null : type.cast(holder.object());
  }

  public static void remove(Vertx vertx, Class<?> type) {
    map(vertx).remove(type.getName());
  }

  private static LocalMap<String, Holder> map(Vertx vertx) {
    return vertx.sharedData().getLocalMap(MAP);
  }
}
