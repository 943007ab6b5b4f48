package dev.evenkeel.broker.serve;

import dev.evenkeel.bus.ViewQuestion;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * An answer to a question for a view of the cluster. It stays the same as long as what it is made
 * of does, but for the clock: so it is written once, however often somebody asks.
 *
 * <p>Not thread-safe.
 */
final class KeptView {
  /** Of what it is made; null: of nothing yet. */
  private Object from;

  /** The answer up to its closing brace. */
  private byte[] written = {};

  /**
   * The answer.
   *
   * @param of equal to the former one if the answer is the same
   * @param view makes it; it has a field
   * @param clockMillis the cluster's time
   */
  Buffer answer(Object of, Supplier<JsonObject> view, long clockMillis) {
    if (!of.equals(from)) {
      byte[] whole = view.get().toBuffer().getBytes();
      written = Arrays.copyOf(whole, whole.length - 1);
      from = of;
    }
    byte[] clock =
        (",\"" + ViewQuestion.CLOCK + "\":" + clockMillis + "}").getBytes(StandardCharsets.UTF_8);
    return Buffer.buffer(written.length + clock.length).appendBytes(written).appendBytes(clock);
  }
}
