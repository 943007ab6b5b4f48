package dev.evenkeel.api;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What somebody needs to ask or to see something: one of some permissions for a name.
 *
 * @param name of a topic or group, or {@link #NO_NAME}; null: whatever the name
 * @param kinds any of these will do; a refusal names the first
 * @param user who needs none of them; null: everybody does
 */
public record Need(@Nullable String name, List<Permission.Kind> kinds, @Nullable String user) {
  /** A name that no permission but {@code *} covers. */
  public static final String NO_NAME = "";

  public static Need of(@Nullable String name, Permission.Kind... kinds) {
    return new Need(name, List.of(kinds), null);
  }

  /** To know that a topic exists. */
  public static Need seeTopic(String topic) {
    return of(
        topic,
        Permission.Kind.VIEW,
        Permission.Kind.ADMIN,
        Permission.Kind.PRODUCE,
        Permission.Kind.CONSUME);
  }

  /** To know that a group exists. */
  public static Need seeGroup(String group) {
    return of(group, Permission.Kind.VIEW, Permission.Kind.ADMIN, Permission.Kind.GROUP);
  }

  /** To see what is a user's own: everybody else needs to see all. */
  public static Need seeUser(String user) {
    return new Need(NO_NAME, seeAll().kinds(), user);
  }

  /** To see what has no name. */
  public static Need seeAll() {
    return of(NO_NAME, Permission.Kind.VIEW, Permission.Kind.ADMIN);
  }
}
