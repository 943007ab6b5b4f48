package dev.evenkeel.cli;

import dev.evenkeel.client.GivenBackException;
import dev.evenkeel.client.MemberFaultException;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Writes lines on a thread of its own, so that a slow reader holds up nobody and lines never mix.
 * It collects lines while it writes the ones before. Callers bound the memory by the number of
 * lines that they leave unfinished.
 */
final class LineOutput implements AutoCloseable {
  /** A buffer that grew above this size is dropped after use. */
  private static final int BUFFER_BYTES_KEPT = 4 << 20;

  /** Java has no other sign of it. */
  private static final Pattern CLOSED = Pattern.compile("(?i).*(broken pipe|pipe.*clos).*");

  private static final String UNREAD = "nobody reads what is printed";

  private final OutputStream out;
  private final Context context;
  private final Consumer<MemberFaultException> onFailure;
  private final ExecutorService writer =
      Executors.newSingleThreadExecutor(Daemon.named("evenkeel-output"));

  // Guarded by this.
  private Bytes filling = new Bytes(64 << 10);
  private Bytes spare = new Bytes(64 << 10);
  private List<Promise<Void>> waiting = new ArrayList<>();
  private boolean writing;

  /** Lines that are being written. */
  private List<Promise<Void>> current = List.of();

  private MemberFaultException failure;
  private boolean failureReported;
  private boolean abandoned;

  private volatile boolean closed;

  /**
   * @param context where futures complete
   * @param onFailure called once, on the context, when a write fails
   */
  LineOutput(OutputStream out, Context context, Consumer<MemberFaultException> onFailure) {
    this.out = out;
    this.context = context;
    this.onFailure = onFailure;
  }

  /** Adds a complete line; completes when the line is written. */
  synchronized Future<Void> write(Consumer<Bytes> line) {
    if (abandoned) {
      return Future.failedFuture(new GivenBackException(UNREAD));
    }
    if (failureReported) {
      return Future.failedFuture(failure);
    }
    Promise<Void> promise = Promise.promise();
    waiting.add(promise);
    if (failure != null) {
      // This line fails together with the others, after onFailure was called.
      return promise.future();
    }
    line.accept(filling);
    if (!writing) {
      writing = true;
      writer.execute(this::drain);
    }
    return promise.future();
  }

  private void drain() {
    while (true) {
      Bytes piece;
      List<Promise<Void>> lines;
      synchronized (this) {
        if (waiting.isEmpty()) {
          writing = false;
          return;
        }
        piece = filling;
        filling = spare;
        lines = waiting;
        waiting = new ArrayList<>();
        current = lines;
      }
      try {
        ByteBuffer view = piece.view();
        out.write(view.array(), view.arrayOffset(), view.remaining());
        out.flush();
        context.runOnContext(now -> lines.forEach(Promise::tryComplete));
      } catch (IOException e) {
        closed = CLOSED.matcher(String.valueOf(e.getMessage())).matches();
        fail(
            new MemberFaultException(
                "standard output cannot be written: " + String.valueOf(e.getMessage())),
            lines);
        return;
      }
      synchronized (this) {
        boolean huge = piece.size() > BUFFER_BYTES_KEPT;
        piece.reset();
        spare = huge ? new Bytes(64 << 10) : piece;
      }
    }
  }

  /**
   * If a write is under way, gives back the messages of its lines and of all that wait: nobody
   * reads them. On the context.
   */
  void abandonIfBlocked() {
    List<Promise<Void>> all;
    synchronized (this) {
      if (!writing) {
        return;
      }
      all = new ArrayList<>(current);
      all.addAll(waiting);
      waiting.clear();
      abandoned = true;
    }
    all.forEach(promise -> promise.tryFail(new GivenBackException(UNREAD)));
  }

  /** Whether a write has failed because nobody reads any more. */
  boolean isClosedPipe() {
    return closed;
  }

  private void fail(MemberFaultException e, List<Promise<Void>> lines) {
    synchronized (this) {
      failure = e;
    }
    context.runOnContext(
        now -> {
          onFailure.accept(e);
          List<Promise<Void>> all = new ArrayList<>(lines);
          synchronized (this) {
            failureReported = true;
            all.addAll(waiting);
            waiting.clear();
          }
          all.forEach(promise -> promise.tryFail(e));
        });
  }

  @Override
  public void close() {
    writer.shutdown();
  }
}
