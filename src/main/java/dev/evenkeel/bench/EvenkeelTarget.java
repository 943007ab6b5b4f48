package dev.evenkeel.bench;

import dev.evenkeel.api.DescribeTopic.ShardDetail;
import dev.evenkeel.api.DescribeTopic.TopicDetail;
import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.cli.CommandFailure;
import dev.evenkeel.cli.OwnProgram;
import dev.evenkeel.client.Acks;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerHandler;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.internal.EvenkeelClientImpl;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.util.Daemon;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** An Evenkeel cluster, used through the public client. */
final class EvenkeelTarget implements Target {
  /** Above what loads have in flight, so that the producer's own bound does not apply. */
  private static final int PRODUCER_MESSAGES_MAX = 10_000_000;

  private static final Future<Void> DONE = Future.succeededFuture();

  private final BenchOptions options;
  private final OwnNodes nodes;
  private final EvenkeelClient client;

  private EvenkeelTarget(BenchOptions options, OwnNodes nodes, EvenkeelClient client) {
    this.options = options;
    this.nodes = nodes;
    this.client = client;
  }

  /** Connects to the cluster in the options, or starts own nodes. */
  static EvenkeelTarget open(BenchOptions options) {
    OwnNodes nodes = options.cluster() == null ? OwnNodes.start(options) : null;
    try {
      return new EvenkeelTarget(
          options, nodes, ClientConnection.connect(connection(options, nodes)));
    } catch (RuntimeException e) {
      if (nodes != null) {
        nodes.close();
      }
      throw e;
    }
  }

  /** The own nodes; null if a running cluster is used. */
  OwnNodes nodes() {
    return nodes;
  }

  @Override
  public JsonObject describe() {
    return new JsonObject()
        .put("system", "evenkeel")
        .put("acks", acksText())
        .put("nodes", nodes == null ? null : nodes.count());
  }

  private String acksText() {
    return options.acks.get() == Acks.NONE ? "none" : options.acks.get().text() + ", fsynced";
  }

  @Override
  public void createTopic(String topic, int shards) {
    ClientConnection.await(client.admin().createTopic(topic, shards));
  }

  /** The description of a topic, with its shards and their leaders. */
  TopicDetail topic(String topic) {
    return ClientConnection.await(client.admin().topic(topic));
  }

  /** The bytes that a topic keeps; null: not known. */
  Long keptBytes(String topic) {
    return topic(topic).topic().figures().bytes();
  }

  @Override
  public long stored(String topic) {
    long sum = 0;
    for (ShardDetail each : topic(topic).shardList()) {
      if (each.end() == null) {
        return -1;
      }
      sum += each.end();
    }
    return sum;
  }

  @Override
  public DiskWrites diskWrites(String topic, List<String> urls) {
    Long batchBytes = keptBytes(topic);
    try {
      return DiskWrites.of(writtenBytes(nodes == null ? urls : nodes.urls()), batchBytes);
    } catch (CommandFailure e) {
      return DiskWrites.unknown(e.getMessage(), batchBytes);
    }
  }

  private static Map<String, Double> writtenBytes(List<String> urls) {
    if (urls == null) {
      throw CommandFailure.failed("--http does not name the nodes of the cluster");
    }
    Map<String, Double> written = new HashMap<>();
    for (String url : urls) {
      NodeMetrics metrics = NodeMetrics.read(url);
      if (metrics.node() == null) {
        throw CommandFailure.failed("--http " + url + " is not the HTTP address of a node");
      }
      written.put(metrics.node(), metrics.writtenBytes());
    }
    return written;
  }

  @Override
  public Sender sender(String topic) {
    return sender(topic, null);
  }

  Sender sender(String topic, Router router) {
    return sender(topic, router, options.lingerMillis.get(), options.batchBytes.get());
  }

  Sender compressingSender(String topic, Compression compression) {
    return new ProducerSender(
        producer(topic, null, options.lingerMillis.get(), options.batchBytes.get(), compression));
  }

  /** A sender without a producer: see {@link BareSender}. */
  Sender bareSender(String topic) {
    return new BareSender(EvenkeelClientImpl.linkOf(client), topic);
  }

  /**
   * @param lingerMillis null: the default
   * @param batchBytes null: the default
   */
  private Producer producer(
      String topic, Router router, Long lingerMillis, Long batchBytes, Compression compression) {
    ProducerOptions producerOptions =
        new ProducerOptions()
            .setTopic(topic)
            .setAcks(options.acks.get())
            .setCompression(compression);
    if (lingerMillis != null) {
      producerOptions.setLingerMillis(lingerMillis);
    }
    if (batchBytes != null) {
      producerOptions.setBatchBytes(batchBytes.intValue());
    }
    Producer producer = onOwnContext(() -> client.producer(producerOptions, router));
    producer.setWriteQueueMaxSize(PRODUCER_MESSAGES_MAX);
    return producer;
  }

  DelayBench.DelayedSender delayedSender(String topic) {
    return new ProducerSender(producer(topic, null, null, null, options.compression.get()));
  }

  /**
   * @param lingerMillis null: the default
   * @param batchBytes null: the default
   */
  Sender sender(String topic, Router router, Long lingerMillis, Long batchBytes) {
    return new ProducerSender(
        producer(topic, router, lingerMillis, batchBytes, options.compression.get()));
  }

  private record ProducerSender(Producer producer) implements Sender, DelayBench.DelayedSender {
    @Override
    public void send(byte[] key, byte[] payload, Done done) {
      producer.send(message(key, payload)).onComplete(sent -> done.done(sent.cause()));
    }

    @Override
    public void send(byte[] key, byte[] payload, long dueMillis, Done done) {
      producer
          .sendAt(message(key, payload), Instant.ofEpochMilli(dueMillis))
          .onComplete(sent -> done.done(sent.cause()));
    }

    private static Message message(byte[] key, byte[] payload) {
      return new Message(key, null, System.currentTimeMillis(), payload);
    }

    @Override
    public void close() {
      ClientConnection.await(producer.close());
      if (producer.failedMessages() > 0) {
        throw CommandFailure.failed(
            producer.failedMessages() + " messages failed after they had been sent");
      }
    }
  }

  @Override
  public List<String> memberCommand(String topic, String group, String member) {
    List<String> command = new ArrayList<>(OwnProgram.command(List.of()));
    String seeds = String.join(",", connection().getSeeds());
    command.addAll(List.of("bench", "rebalance-member", "--cluster", seeds));
    ClientOptions client = connection();
    option(command, "--ca", client.getCa());
    option(command, "--token-file", client.getTokenFile());
    option(command, "--cert", client.getCertificate());
    option(command, "--cert-key", client.getKey());
    command.addAll(List.of("--topic", topic, "--group", group, "--member", member));
    return command;
  }

  private static void option(List<String> command, String name, String value) {
    if (value != null) {
      command.addAll(List.of(name, value));
    }
  }

  @Override
  public Receiver receiver(String topic, String group, Arrival arrival) {
    return receiver(
        client,
        new ConsumerOptions().setGroup(group).setTopics(List.of(topic)),
        delivery -> {
          arrival.arrived(delivery.message().payload());
          return DONE;
        });
  }

  static Receiver receiver(
      EvenkeelClient client, ConsumerOptions options, ConsumerHandler handler) {
    Consumer consumer = onOwnContext(() -> client.consumer(options, handler));
    return () -> ClientConnection.await(consumer.close());
  }

  private static ClientOptions connection(BenchOptions options, OwnNodes nodes) {
    return options.on(
        new ClientOptions().setSeeds(nodes == null ? options.cluster() : nodes.seeds()));
  }

  /** How to connect to the nodes. */
  ClientOptions connection() {
    return connection(options, nodes);
  }

  /** Opens on a new thread, so that each producer and consumer has a context of its own. */
  private static <T> T onOwnContext(Supplier<Future<T>> open) {
    CompletableFuture<Future<T>> opening = Daemon.call("bench-open", open::get);
    return ClientConnection.await(opening.join());
  }

  @Override
  public void close() {
    ClientConnection.close(client);
    if (nodes != null) {
      nodes.close();
    }
  }
}
