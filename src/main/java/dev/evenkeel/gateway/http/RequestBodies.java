package dev.evenkeel.gateway.http;

import dev.evenkeel.bus.share.FairShare;
import dev.evenkeel.bus.share.HeavyWork;
import dev.evenkeel.gateway.access.JsonSize;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.AsyncResult;
import io.vertx.core.Handler;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.ext.web.RoutingContext;
import java.util.concurrent.Callable;

/**
 * Reads the bodies of requests, and limits the bytes of all those that are not answered yet. For
 * use on one context.
 */
final class RequestBodies {
  private static final String KEY = RequestBodies.class.getName();

  private static final String PARSED = KEY + ".parsed";

  private final FairShare bytes;

  /**
   * @param bytes of all bodies together
   */
  RequestBodies(FairShare bytes) {
    this.bytes = bytes;
  }

  /** The body that a handler of {@link #upTo} has read; empty if there is none. */
  static Buffer of(RoutingContext context) {
    Buffer body = context.get(KEY);
    return body == null ? Buffer.buffer() : body;
  }

  /** The JSON of a large body, which was parsed on another thread; null: it is not parsed. */
  static Object parsed(RoutingContext context) {
    return context.get(PARSED);
  }

  /** A handler that reads the body, and calls the next handler when it is whole. */
  Handler<RoutingContext> upTo(int bodyBytesMax) {
    return context -> new Body(context, bodyBytesMax).read();
  }

  private final class Body {
    private final RoutingContext context;
    private final int bodyBytesMax;
    private final Buffer body = Buffer.buffer();
    private final FairShare.Account account;
    private boolean answered;

    Body(RoutingContext context, int bodyBytesMax) {
      this.context = context;
      this.bodyBytesMax = bodyBytesMax;
      account = bytes.of(Callers.user(context));
    }

    void read() {
      HttpServerRequest request = context.request();
      if (request.isEnded()) {
        whole();
        return;
      }
      long announced = announced(request);
      takeRoom(announced);
      account.give(announced);
      context.addEndHandler(
          done -> {
            answered = true;
            account.give(body.length());
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

    private void takeRoom(long more) {
      if (body.length() + more > bodyBytesMax) {
        throw new ApiFailure(413, "the body has more than " + bodyBytesMax + " bytes");
      }
      if (!account.tryTake(more)) {
        throw new ApiFailure(
            503,
            Refusal.OVERLOADED.name(),
            "%s; the limit of the node is http-bytes-in-flight-max: try again after a pause"
                .formatted(account.refusal().words()));
      }
    }

    private void take(Buffer part) {
      if (answered) {
        return;
      }
      try {
        takeRoom(part.length());
        body.appendBuffer(part);
      } catch (ApiFailure e) {
        context.fail(e);
      }
    }

    private void whole() {
      if (answered) {
        return;
      }
      context.put(KEY, body);
      Callable<Object> parser =
          body.length() > JsonSize.HEAVY_BYTES ? Requests.parser(context, body) : null;
      if (parser == null) {
        context.next();
        return;
      }
      HeavyWork.of(context.vertx())
          .run(Callers.user(context), body.length(), parser)
          .onComplete(this::parsed);
    }

    private void parsed(AsyncResult<Object> json) {
      if (answered) {
        return;
      }
      if (json.failed()) {
        context.fail(ApiFailure.of(json.cause()));
        return;
      }
      context.put(PARSED, json.result());
      context.next();
    }
  }
}
