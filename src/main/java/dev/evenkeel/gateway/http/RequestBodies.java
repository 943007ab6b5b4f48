package dev.evenkeel.gateway.http;

import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;

/**
 * Reads the bodies of requests, and limits the bytes of all those that are not answered yet. For
 * use on one context.
 */
final class RequestBodies {
  private static final String KEY = RequestBodies.class.getName();

  private final long bytesMax;
  private long bytes;

  /**
   * @param bytesMax of all bodies together
   */
  RequestBodies(long bytesMax) {
    this.bytesMax = bytesMax;
  }

  /** The body that a handler of {@link #upTo} has read; empty if there is none. */
  static Buffer of(RoutingContext context) {
    Buffer body = context.get(KEY);
    return body == null ? Buffer.buffer() : body;
  }

  /** A handler that reads the body, and calls the next handler when it is whole. */
  Handler<RoutingContext> upTo(int bodyBytesMax) {
    return context -> new Body(context, bodyBytesMax).read();
  }

  private final class Body {
    private final RoutingContext context;
    private final int bodyBytesMax;
    private final Buffer body = Buffer.buffer();
    private boolean answered;

    Body(RoutingContext context, int bodyBytesMax) {
      this.context = context;
      this.bodyBytesMax = bodyBytesMax;
    }

    void read() {
      HttpServerRequest request = context.request();
      if (request.isEnded()) {
        whole();
        return;
      }
      checkRoom(announced(request));
      context.addEndHandler(
          done -> {
            answered = true;
            bytes -= body.length();
          });
      if (request.version() != HttpVersion.HTTP_1_0
          && "100-continue".equalsIgnoreCase(request.getHeader(HttpHeaders.EXPECT))) {
        request.response().writeContinue();
      }
      request.handler(this::take);
      request.end().onSuccess(end -> whole());
    }

    /** The length in the head of the request; 0 if there is none. */
    private static long announced(HttpServerRequest request) {
      String length = request.getHeader(HttpHeaders.CONTENT_LENGTH);
      try {
        return length == null ? 0 : Long.parseLong(length);
      } catch (NumberFormatException e) {
        return 0;
      }
    }

    private void checkRoom(long more) {
      if (body.length() + more > bodyBytesMax) {
        throw new ApiFailure(413, "the body has more than " + bodyBytesMax + " bytes");
      }
      if (bytes + more > bytesMax) {
        throw new ApiFailure(
            503,
            Refusal.OVERLOADED.name(),
            "the requests under way have bodies of %s bytes, the limit (http-bytes-in-flight-max):"
                    .formatted(bytesMax)
                + " try again after a pause");
      }
    }

    private void take(Buffer part) {
      if (answered) {
        return;
      }
      try {
        checkRoom(part.length());
        body.appendBuffer(part);
        bytes += part.length();
      } catch (ApiFailure e) {
        context.fail(e);
      }
    }

    private void whole() {
      if (!answered) {
        context.put(KEY, body);
        context.next();
      }
    }
  }
}
