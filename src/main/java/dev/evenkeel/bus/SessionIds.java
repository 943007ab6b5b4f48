package dev.evenkeel.bus;

import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.util.Sha256;
import java.util.HexFormat;
import java.util.regex.Pattern;

/** What people see of the ids of sessions: whoever knows an id can speak for the session. */
public final class SessionIds {
  private static final Pattern FORM = Pattern.compile(Hello.SESSION_FORM);
  private static final int SHOWN_BYTES = 8;

  private SessionIds() {}

  /**
   * What tells a session from others, and cannot be turned back into its id.
   *
   * @param id of a session, or of a member of the cluster, which is shown as it is; or null
   */
  public static String shown(String id) {
    if (id == null || !FORM.matcher(id).matches()) {
      return id;
    }
    return "session-" + HexFormat.of().formatHex(Sha256.of(id), 0, SHOWN_BYTES);
  }
}
