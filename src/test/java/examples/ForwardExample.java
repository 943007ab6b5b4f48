package examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.SpoolingProducer;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.util.List;
import java.util.Map;

/**
 * Receives orders by HTTP, answers as soon as an order is safe on this machine's disk, and forwards
 * it to the topic when that is to be had. {@code POST /orders/CUSTOMER} is answered by 202, or by
 * 429 with {@code Retry-After} if the spool is full: then nothing was taken. {@code GET /status}
 * tells how much waits.
 *
 * <p>Arguments: a node, the spool's directory, its limit in bytes.
 */
public final class ForwardExample {
  private static final int BODY_BYTES_MAX = 1 << 20;
  private static final String RETRY_AFTER_SECONDS = "1";

  private final SpoolingProducer producer;

  private ForwardExample(SpoolingProducer producer) {
    this.producer = producer;
  }

  public static void main(String[] args) {
    ProducerOptions options =
        new ProducerOptions()
            .setTopic("orders")
            .setSpool(args[1])
            .setSpoolLimitBytes(Long.parseLong(args[2]))
            // What was answered survives a crash of this machine, too.
            .setSpoolFsync(ProducerOptions.SpoolFsync.ALWAYS)
            // Refuse early, rather than let requests wait for room.
            .setOnFull(ProducerOptions.OnFull.FAIL);
    Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0])))
        .compose(client -> serve(client, options))
        .onSuccess(server -> System.out.println("listening on " + server.actualPort()))
        .onFailure(
            failure -> {
              System.err.println("cannot start: " + failure.getMessage());
              System.exit(1);
            });
  }

  private static Future<HttpServer> serve(EvenkeelClient client, ProducerOptions options) {
    return client
        .spoolingProducer(options, null)
        .compose(
            producer -> {
              // It ends only for what a person must look at: fenced, a deleted topic, a bad disk.
              producer.ended().onFailure(failure -> System.exit(1));
              ForwardExample service = new ForwardExample(producer);
              Runtime.getRuntime().addShutdownHook(new Thread(service::stop));
              return client
                  .vertx()
                  .createHttpServer()
                  .requestHandler(service::handle)
                  .listen(0, "127.0.0.1");
            });
  }

  private void handle(HttpServerRequest request) {
    if (request.path().equals("/status")) {
      SpoolingProducer.Status status = producer.status();
      request
          .response()
          .end("{\"pending\":" + status.pendingMessages() + ",\"bytes\":" + status.bytes() + "}");
    } else if (!request.path().startsWith("/orders/")) {
      request.response().setStatusCode(404).end();
    } else if (producer.writeQueueFull()) {
      // Before its body is read: under overload a request must cost as little as can be.
      refuse(request);
    } else if (lengthOf(request) > BODY_BYTES_MAX) {
      request.response().setStatusCode(413).end();
    } else {
      String customer = request.path().substring("/orders/".length());
      request.body().onSuccess(body -> accept(request, customer, body.getBytes()));
    }
  }

  private static long lengthOf(HttpServerRequest request) {
    String length = request.getHeader("content-length");
    // A body of unknown length could be of any: it is not read.
    return length == null ? Long.MAX_VALUE : Long.parseLong(length);
  }

  private void accept(HttpServerRequest request, String customer, byte[] order) {
    Message message =
        new Message(customer.getBytes(UTF_8), Map.of(), System.currentTimeMillis(), order);
    producer
        .spool(message)
        // Safe from now on: it will be sent, if not by this program then by the next one.
        .onSuccess(none -> request.response().setStatusCode(202).end())
        .onFailure(
            failure -> {
              if (failure instanceof RefusedException refused
                  && refused.refusal() == Refusal.OVERLOADED) {
                refuse(request);
              } else {
                request.response().setStatusCode(503).end(failure.getMessage());
              }
            });
  }

  private static void refuse(HttpServerRequest request) {
    request
        .response()
        .setStatusCode(429)
        .putHeader("retry-after", RETRY_AFTER_SECONDS)
        .putHeader("connection", "close")
        .end();
  }

  private void stop() {
    // Writes what is in memory and ends at once: the rest is sent by the next program.
    producer.close().toCompletionStage().toCompletableFuture().join();
  }
}
