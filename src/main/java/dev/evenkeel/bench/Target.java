package dev.evenkeel.bench;

import io.vertx.core.json.JsonObject;
import java.util.List;

/**
 * A system under load, as its clients see it. The same loads run against every system, so that
 * figures can be compared. Methods block; only threads of the load call them.
 */
public interface Target extends AutoCloseable {

  /** Describes the system for the result: its name, version and relevant settings. */
  JsonObject describe();

  void createTopic(String topic, int shards);

  /** A new producer, for use by one thread. */
  Sender sender(String topic);

  /** A new consumer that joins a group. The group starts at the earliest message. */
  Receiver receiver(String topic, String group, Arrival arrival);

  /**
   * The command line of a consumer process, beginning with the JVM and without JVM options. The
   * process joins the group as {@code member}, works for a millisecond on each message, prints a
   * {@link HandledLine} for it, and leaves cleanly on SIGTERM.
   */
  List<String> memberCommand(String topic, String group, String member);

  /** How many messages the topic holds; -1 if that is unknown. */
  long stored(String topic);

  /**
   * What the nodes have written to disk since they started, and the bytes of the batches in the
   * topic.
   *
   * @param urls HTTP addresses of the nodes of a running cluster, null if they are not known; the
   *     target knows the nodes that it has started
   */
  DiskWrites diskWrites(String topic, List<String> urls);

  @Override
  void close();

  /** Sends messages, and passes the result of each to {@code done}, on any thread. */
  interface Sender extends AutoCloseable {
    void send(byte[] key, byte[] payload, Done done);

    @Override
    void close();
  }

  /** Takes the result of one message: null if it was acknowledged. */
  interface Done {
    void done(Throwable failure);
  }

  /** Takes the messages of a receiver, one at a time on one thread. Must not block. */
  interface Arrival {
    void arrived(byte[] payload);
  }

  /** A running consumer. */
  interface Receiver extends AutoCloseable {
    @Override
    void close();
  }

  /** Connects to a system as the options say. */
  interface Opener {
    Target open(BenchOptions options);
  }
}
