package dev.evenkeel.gateway.session;

import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.util.regex.Pattern;

/** Checks the HELLO of a client. */
final class Handshake {
  private static final Pattern SESSION = Pattern.compile(Hello.SESSION_FORM);

  /** Most characters of a client's text that an answer repeats. */
  private static final int REPEATED_CHARS_MAX = 100;

  private Handshake() {}

  private static Hello read(Buffer body) {
    try {
      Hello hello = Hello.fromJson(new JsonObject(body));
      if (!hello.versions().isEmpty()) {
        return hello;
      }
    } catch (DecodeException | ClassCastException | RefusedException e) {
      // As below.
    }
    throw Refusal.INVALID.error(
        "the body of HELLO must be a JSON object with the fields versions, session and cluster");
  }

  /**
   * Reads a HELLO.
   *
   * @throws RefusedException with what is wrong and what would be right
   */
  static Hello check(Buffer body, String clusterName) {
    Hello hello = read(body);
    if (!hello.versions().contains(SessionFrame.VERSION)) {
      throw Refusal.WRONG_VERSION.error(
          "the client speaks the versions %s of the protocol, and this node version %s: use a"
              + " client and nodes of neighbouring versions",
          repeated(hello.versions().toString()), SessionFrame.VERSION);
    }
    if (hello.session() == null || !SESSION.matcher(hello.session()).matches()) {
      throw Refusal.INVALID.error(
          "bad session id '%s': use 's-' and 32 random hexadecimal digits, 0 to 9 and a to f",
          repeated(hello.session()));
    }
    if (!clusterName.equals(hello.cluster())) {
      throw Refusal.INVALID.error(
          "this is a node of the cluster '%s', and the client wants '%s': connect it to other"
              + " nodes, or correct its cluster name",
          clusterName, repeated(hello.cluster()));
    }
    return hello;
  }

  private static String repeated(String text) {
    String known = String.valueOf(text).replaceAll("\\p{Cntrl}", "?");
    return known.length() <= REPEATED_CHARS_MAX
        ? known
        : known.substring(0, REPEATED_CHARS_MAX) + "…";
  }
}
