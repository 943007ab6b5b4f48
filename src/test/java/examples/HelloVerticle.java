package examples;

import io.vertx.core.Future;
import io.vertx.core.VerticleBase;

/**
 * A verticle that needs nothing but Vert.x, for {@code evenkeel run examples.HelloVerticle}: an
 * HTTP server at {@code port} of its configuration.
 */
public final class HelloVerticle extends VerticleBase {
  @Override
  public Future<?> start() {
    return vertx
        .createHttpServer()
        .requestHandler(request -> request.response().end("hello\n"))
        .listen(config().getInteger("port", 8085), "127.0.0.1");
  }

  @Override
  public Future<?> stop() {
    System.out.println("goodbye");
    return Future.succeededFuture();
  }
}
