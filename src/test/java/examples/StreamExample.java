package examples;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.client.ClientOptions;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.ConsumerStream;
import dev.evenkeel.client.ConsumerStream.Finishing;
import dev.evenkeel.client.EvenkeelClient;
import dev.evenkeel.client.Producer;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.protocol.Message;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.file.OpenOptions;
import io.vertx.core.parsetools.RecordParser;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Sends the lines of a file to a topic, then copies that topic to another, both with back-pressure:
 * {@code StreamExample HOST:PORT FILE TOPIC COPY LINES}.
 */
public final class StreamExample {
  private StreamExample() {}

  public static void main(String[] args) {
    Evenkeel.connect(new ClientOptions().setSeeds(List.of(args[0])))
        .compose(
            client ->
                fill(client, args[1], args[2])
                    .compose(filled -> copy(client, args[2], args[3], Long.parseLong(args[4])))
                    .eventually(client::close))
        .onSuccess(copied -> System.out.println("copied " + copied))
        .onFailure(
            failure -> {
              System.err.println(failure);
              System.exit(1);
            });
  }

  /** A producer is a WriteStream: when it is full the file is not read on. */
  static Future<Void> fill(EvenkeelClient client, String path, String topic) {
    return client
        .producer(new ProducerOptions().setTopic(topic))
        .compose(
            producer ->
                client
                    .vertx()
                    .fileSystem()
                    .open(path, new OpenOptions().setRead(true))
                    .compose(
                        file -> {
                          RecordParser lines = RecordParser.newDelimited("\n", file);
                          Promise<Void> end = Promise.promise();
                          lines
                              .exceptionHandler(end::tryFail)
                              .endHandler(none -> end.tryComplete())
                              .handler(
                                  line -> {
                                    producer
                                        .write(
                                            new Message(
                                                null,
                                                null,
                                                System.currentTimeMillis(),
                                                line.getBytes()))
                                        .onFailure(end::tryFail);
                                    if (producer.writeQueueFull()) {
                                      lines.pause();
                                      producer.drainHandler(none -> lines.resume());
                                    }
                                  });
                          return end.future();
                        })
                    // Ends once everything is acknowledged or has failed.
                    .compose(read -> producer.end()));
  }

  /** A message is finished when its copy is acknowledged, so that a crash loses none. */
  static Future<Long> copy(EvenkeelClient client, String from, String to, long count) {
    ConsumerOptions options =
        new ConsumerOptions()
            .setGroup("copy-to-" + to)
            .setTopics(List.of(from))
            // Handed out in the shard's order, without waiting for one before the next.
            .setOrder(ConsumerOptions.Order.NONE)
            // Most messages that are given out and not finished.
            .setParallel(1_000);
    return Future.all(
            client.producer(new ProducerOptions().setTopic(to)),
            client.stream(options, Finishing.MANUAL))
        .compose(
            both -> {
              Producer producer = both.resultAt(0);
              ConsumerStream stream = both.resultAt(1);
              AtomicLong copied = new AtomicLong();
              Promise<Long> done = Promise.promise();
              stream
                  .exceptionHandler(done::tryFail)
                  .handler(
                      delivery -> {
                        producer
                            .write(delivery.message())
                            .onSuccess(
                                none -> {
                                  stream.finish(delivery);
                                  if (copied.incrementAndGet() == count) {
                                    done.tryComplete(count);
                                  }
                                })
                            .onFailure(failure -> stream.fail(delivery, failure));
                        if (producer.writeQueueFull()) {
                          stream.pause();
                          producer.drainHandler(none -> stream.resume());
                        }
                      });
              return done.future().eventually(stream::close).eventually(producer::end);
            });
  }
}
