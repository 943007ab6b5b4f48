package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.CORRUPT;
import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.node.BodyMender;
import dev.evenkeel.bus.Asker;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A read that meets a damaged body waits until it is mended, and is done once more.
 *
 * @param asker who reads
 * @param reader reads the disk; throws {@link DamagedBodyException} unless the body is known to be
 *     lost
 */
record MendingRead<T>(ServeContext serve, LogGroupServer group, Asker asker, Callable<T> reader) {
  private static final Logger LOG = LoggerFactory.getLogger(MendingRead.class);

  /**
   * @return fails UNAVAILABLE if the body cannot be mended now; CORRUPT if it was not damaged, so
   *     that the index is to blame
   */
  Future<T> run() {
    return serve
        .read(asker, reader)
        .recover(
            failure ->
                failure instanceof DamagedBodyException damaged
                    ? mended(damaged)
                    : Future.failedFuture(failure));
  }

  private Future<T> mended(DamagedBodyException damaged) {
    return Future.fromCompletionStage(
            group.mender().mend(damaged.index()), serve.vertx().getOrCreateContext())
        .compose(
            result ->
                result == BodyMender.Result.LATER
                    ? Future.failedFuture(
                        UNAVAILABLE.error(
                            "%s; no node that answers has an undamaged copy, so it can be read when"
                                + " the other nodes are back",
                            damaged.getMessage()))
                    : serve.read(asker, reader))
        .recover(
            failure ->
                Future.failedFuture(
                    failure instanceof DamagedBodyException again
                        ? corrupt(group, again.getMessage())
                        : failure));
  }

  /** Reports a place that was found damaged, and returns the refusal to serve it. */
  static RefusedException corrupt(LogGroupServer group, String place) {
    group.state().damaged(place);
    return refusal(place);
  }

  static RefusedException refusal(String place) {
    LOG.error("damaged data is not served: {}", place);
    return CORRUPT.error(place);
  }
}
