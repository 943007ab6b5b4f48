package examples;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;

/**
 * A verticle that needs nothing but Vert.x, and gets the messages that {@code evenkeel run echo.in}
 * sends to the address {@code echo.in} of the event bus. Its reply finishes a message.
 */
public final class EchoVerticle extends VerticleBase {
  @Override
  public Future<?> start() {
    return vertx
        .eventBus()
        .<Buffer>consumer(
            "echo.in",
            message -> {
              System.out.println("got " + message.body());
              message.reply(null);
            })
        .completion();
  }
}
