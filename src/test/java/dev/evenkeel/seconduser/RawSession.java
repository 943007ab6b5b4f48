package dev.evenkeel.seconduser;

import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.frame.FrameKind;
import dev.evenkeel.bus.frame.Hello;
import dev.evenkeel.bus.frame.SessionFrame;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.buffer.Buffer;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLSocket;

/** A connection at the client port that sends whatever frames it is given. */
final class RawSession implements AutoCloseable {
  private static final int IN_FLIGHT_MAX = 500;
  private static final long PATIENCE_SECONDS = 30;

  private final SSLSocket socket;
  private final DataInputStream in;
  private final Outcome outcome;
  private final String id;
  private final AtomicInteger numbers = new AtomicInteger();
  private final Semaphore room = new Semaphore(IN_FLIGHT_MAX);
  private final Map<Integer, CompletableFuture<Buffer>> asked = new ConcurrentHashMap<>();
  private volatile boolean closed;
  private volatile boolean reads;

  private RawSession(SSLSocket socket, String id, Outcome outcome) throws IOException {
    this.socket = socket;
    this.id = id;
    this.outcome = outcome;
    in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
  }

  static String newId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return "s-%016x%016x".formatted(random.nextLong(), random.nextLong());
  }

  /**
   * One that was welcomed, and that reads nothing more before {@link #read}.
   *
   * @param id of the session
   * @throws RefusedException if it was not welcomed
   */
  static RawSession open(Target target, String token, String id, Outcome outcome)
      throws IOException {
    RawSession session = new RawSession(target.open(target.port()), id, outcome);
    boolean done = false;
    try {
      Hello hello = new Hello(java.util.List.of(1), id, "evenkeel", "attack", token, 0);
      session.send(FrameKind.HELLO, 0, hello.toJson().toBuffer().getBytes());
      SessionFrame answer = session.next();
      if (answer.kind() == FrameKind.REFUSAL) {
        throw answer.refused();
      }
      if (answer.kind() != FrameKind.WELCOME) {
        throw new IOException("not welcomed: " + answer.kind() + " " + answer.body());
      }
      done = true;
      return session;
    } finally {
      if (!done) {
        session.close();
      }
    }
  }

  String id() {
    return id;
  }

  /** From now on, a thread reads what comes. */
  RawSession read() {
    reads = true;
    Thread thread = new Thread(null, this::readAll, "reads " + id, 256 << 10);
    thread.setDaemon(true);
    thread.start();
    return this;
  }

  static byte[] frame(FrameKind kind, int correlation, byte[]... parts) {
    int length = SessionFrame.HEAD_BYTES - 4;
    for (byte[] part : parts) {
      length += part.length;
    }
    ByteBuffer frame = ByteBuffer.allocate(4 + length);
    frame.putInt(length).put((byte) SessionFrame.VERSION).put((byte) kind.code());
    frame.putInt(correlation);
    for (byte[] part : parts) {
      frame.put(part);
    }
    return frame.array();
  }

  void send(FrameKind kind, int correlation, byte[]... parts) throws IOException {
    sendRaw(frame(kind, correlation, parts));
  }

  synchronized void sendRaw(byte[] bytes) throws IOException {
    if (closed) {
      throw new IOException("the node has closed the connection");
    }
    socket.getOutputStream().write(bytes);
  }

  /** Sends a request, and waits only while too many have no answer. */
  void request(String address, byte[] body) throws IOException {
    request(address, body, 30_000);
  }

  void request(String address, byte[] body, int timeoutMillis) throws IOException {
    if (reads) {
      takeRoom();
    }
    byte[] head = SessionFrame.requestHead(address, timeoutMillis).getBytes();
    send(FrameKind.REQUEST, numbers.incrementAndGet(), head, body);
  }

  private void takeRoom() throws IOException {
    try {
      if (!room.tryAcquire(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("too many requests have no answer");
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** Sends a request, and waits for its answer; it must {@link #read}. */
  Buffer ask(String address, byte[] body) throws IOException {
    CompletableFuture<Buffer> answer = new CompletableFuture<>();
    int number = numbers.incrementAndGet();
    asked.put(number, answer);
    byte[] head = SessionFrame.requestHead(address, 30_000).getBytes();
    send(FrameKind.REQUEST, number, head, body);
    try {
      return answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RefusedException refused) {
        throw refused;
      }
      throw new IOException(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new IOException(e);
    } finally {
      asked.remove(number);
    }
  }

  void listen(String address) throws IOException {
    if (reads) {
      takeRoom();
    }
    send(FrameKind.LISTEN, numbers.incrementAndGet(), SessionFrame.addressed(address).getBytes());
  }

  private SessionFrame next() throws IOException {
    int length = in.readInt();
    if (length < 6 || length > 70 << 20) {
      throw new IOException("a frame of " + length + " bytes");
    }
    in.readUnsignedByte();
    FrameKind kind = FrameKind.ofCode(in.readUnsignedByte());
    int correlation = in.readInt();
    return new SessionFrame(kind, correlation, Buffer.buffer(in.readNBytes(length - 6)));
  }

  private void readAll() {
    try {
      socket.setSoTimeout(0);
      while (!closed) {
        took(next());
      }
    } catch (IOException | RuntimeException e) {
      closed = true;
      asked.values().forEach(each -> each.completeExceptionally(e));
      room.release(IN_FLIGHT_MAX);
    }
  }

  private void took(SessionFrame frame) throws IOException {
    CompletableFuture<Buffer> waiting = asked.get(frame.correlation());
    switch (frame.kind()) {
      case ANSWER -> {
        if (waiting != null) {
          waiting.complete(frame.body());
        } else {
          room.release();
          outcome.answered(refusal(frame.body()));
        }
      }
      case REFUSAL -> {
        RefusedException refused = frame.refused();
        if (waiting != null) {
          waiting.completeExceptionally(refused);
        } else {
          room.release();
          outcome.refused(refused.refusal().name(), refused.getMessage());
        }
      }
      case PING -> send(FrameKind.PONG, frame.correlation());
      case GOODBYE -> {
        outcome.closed(frame.reason());
        close();
      }
      default -> outcome.count(frame.kind().name());
    }
  }

  /** What an answer refuses; null: nothing, or it is no frame of a broker. */
  private static RefusedException refusal(Buffer body) {
    if (body.length() < 2 || body.getByte(0) != 1) {
      return null;
    }
    try {
      Frames.answerBody(body);
      return null;
    } catch (RefusedException refused) {
      return refused;
    } catch (RuntimeException none) {
      return Refusal.INVALID.error("unreadable");
    }
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    try {
      socket.setSoLinger(true, 0);
      socket.close();
    } catch (IOException e) {
      outcome.count("not closed");
    }
  }
}
