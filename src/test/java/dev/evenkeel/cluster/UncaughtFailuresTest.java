package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.impl.CodecManager;
import io.vertx.core.eventbus.impl.clustered.ClusteredMessage;
import org.junit.jupiter.api.Test;

class UncaughtFailuresTest {
  @Test
  void aPromiseOfTheProgramThatIsCompletedTwiceIsNoBrokenConnection() {
    Promise<Void> promise = Promise.promise();
    promise.complete();
    assertThat(thrown(() -> promise.complete(null, new Exception("second"))))
        .isInstanceOf(IllegalStateException.class)
        .matches(failure -> !UncaughtFailures.isOfBrokenConnection(failure));
    assertThat(UncaughtFailures.isOfBrokenConnection(new NullPointerException())).isFalse();
    assertThat(UncaughtFailures.isOfBrokenConnection(new IllegalStateException())).isFalse();
  }

  @Test
  void whatCannotBeReadFromTheEventBusIsKnown() {
    Buffer malformed = Buffer.buffer(new byte[] {2, 0, 0, 0x7f, -1, -1, -1, 1});
    Throwable unreadable =
        thrown(() -> new ClusteredMessage<>(null).readFromWire(malformed, new CodecManager()));
    assertThat(UncaughtFailures.isOfMalformedMessage(unreadable)).isTrue();

    String connection = "io.vertx.core.eventbus.impl.clustered.InboundConnection";
    Throwable length = new IllegalArgumentException();
    length.setStackTrace(
        new StackTraceElement[] {
          call("io.vertx.core.impl.Arguments", "require"),
          call("io.vertx.core.parsetools.impl.RecordParserImpl", "fixedSizeMode"),
          call(connection, "decodeMessage")
        });
    assertThat(UncaughtFailures.isOfMalformedMessage(length)).isTrue();

    Throwable ofHandler = new IllegalStateException();
    ofHandler.setStackTrace(
        new StackTraceElement[] {
          call("dev.evenkeel.Handler", "handle"), call(connection, "decodeMessage")
        });
    assertThat(UncaughtFailures.isOfMalformedMessage(ofHandler)).isFalse();
    assertThat(UncaughtFailures.isOfMalformedMessage(new OutOfMemoryError())).isFalse();
  }

  @Test
  void theEndOfARequestThatWasGivenUpIsKnown() {
    String connection = "io.vertx.core.http.impl.Http1xServerConnection";
    Throwable end = new NullPointerException();
    end.setStackTrace(
        new StackTraceElement[] {call(connection, "onEnd"), call(connection, "handleMessage")});
    assertThat(UncaughtFailures.isOfMalformedRequest(end)).isTrue();

    Throwable ofHandler = new NullPointerException();
    ofHandler.setStackTrace(
        new StackTraceElement[] {
          call("dev.evenkeel.Handler", "handle"), call(connection, "onEnd")
        });
    assertThat(UncaughtFailures.isOfMalformedRequest(ofHandler)).isFalse();
  }

  private static StackTraceElement call(String type, String method) {
    return new StackTraceElement(type, method, null, 1);
  }

  private static Throwable thrown(Runnable task) {
    try {
      task.run();
      return null;
    } catch (RuntimeException e) {
      return e;
    }
  }
}
