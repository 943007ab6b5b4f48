package dev.evenkeel.bench;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * A system under load, as its clients see it. Methods block; they are for threads of the load. The
 * same loads run against every system, so that figures can be compared.
 */
public interface Target extends AutoCloseable {

  /** What the figures are of: name, version, settings that matter. */
  JsonObject describe();

  void createTopic(String topic, int shards);

  /** A producer of its own; to be used by one thread. */
  Sender sender(String topic);

  /** A consumer that joins {@code group}, which begins at the earliest message. */
  Receiver receiver(String topic, String group, Arrival arrival);

  /**
   * The command line, from the JVM's program on and without options for it, of a process that joins
   * {@code group} as {@code member}, works for a millisecond on each message, tells of each by a
   * {@link HandledLine}, and leaves in good order on SIGTERM.
   */
  List<String> memberCommand(String topic, String group, String member);

  /** Messages that the topic holds, or -1 if it cannot be told. */
  long stored(String topic);

  @Override
  void close();

  /** Sends messages; {@code done} is told of each, on any thread. */
  interface Sender extends AutoCloseable {
    void send(byte[] key, byte[] payload, Done done);

    @Override
    void close();
  }

  /** The outcome of one message: null once it is acknowledged. */
  interface Done {
    void done(Throwable failure);
  }

  /** Takes what arrives, one message after another on one thread a receiver. Must not block. */
  interface Arrival {
    void arrived(byte[] payload);
  }

  /** A consumer at work. */
  interface Receiver extends AutoCloseable {
    @Override
    void close();
  }

  /** Opens a system by what the command line says. */
  interface Opener {
    Target open(BenchOptions options);
  }
}
