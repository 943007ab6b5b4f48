package dev.evenkeel.bench;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.FetchManyAnswer;
import dev.evenkeel.bus.FetchManyRequest;
import dev.evenkeel.bus.FetchRequest;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.cli.ClientConnection;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.MessageFilter;
import dev.evenkeel.protocol.Shard;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/**
 * What many consumers in mode broadcast ask of the nodes, each of which wants the messages of one
 * key. They have no handlers, so that the load is that of the nodes.
 */
final class FilterReaders implements AutoCloseable {
  private static final int BYTES_MAX = 64 << 10;
  private static final int MESSAGES_MAX = 1_000;
  private static final long GRACE_MILLIS = 5_000;
  private static final long PAUSE_MILLIS = 500;

  private final Link link;
  private final ClusterDirectory directory;
  private final LongAdder messages = new LongAdder();
  private final LongAdder answers = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private volatile Throwable lastFailure;
  private volatile boolean closed;

  /**
   * Reads a topic from its beginning on, with a reader for each of the first {@code count} keys.
   */
  FilterReaders(Link link, String topic, int count) {
    this.link = link;
    directory = new ClusterDirectory(link);
    ClusterView view = ClientConnection.await(directory.view());
    int topicId = view.existing(topic).id();
    int shards = view.existing(topic).shards();
    for (int i = 0; i < count; i++) {
      MessageFilter filter = MessageFilter.of("key=" + Payloads.keyText(i));
      List<FetchRequest> fetches = new ArrayList<>();
      for (int shard = 0; shard < shards; shard++) {
        Shard of = new Shard(topicId, shard);
        fetches.add(
            FetchRequest.browse(of, 0, BYTES_MAX, MESSAGES_MAX, Limits.FETCH_WAIT_MILLIS_MAX)
                .with(filter));
      }
      // As consumers do with shards to which little comes.
      fetches.stream()
          .collect(Collectors.groupingBy(each -> String.valueOf(directory.leaderOf(each.shard()))))
          .forEach(this::read);
    }
  }

  /** How many messages have come to them. */
  long messages() {
    return messages.sum();
  }

  /** How many requests were answered. */
  long answers() {
    return answers.sum();
  }

  /** How many requests failed, and were repeated. */
  long failures() {
    return failures.sum();
  }

  /** The last of these failures, or null. */
  Throwable lastFailure() {
    return lastFailure;
  }

  private void read(String node, List<FetchRequest> fetches) {
    link.request(
            Addresses.data(node),
            Frames.request(Op.FETCH_MANY, new FetchManyRequest(fetches).encode()),
            Limits.FETCH_WAIT_MILLIS_MAX + GRACE_MILLIS)
        .map(frame -> next(fetches, FetchManyAnswer.decode(Frames.answerBody(frame))))
        .onComplete(
            next -> {
              if (closed) {
                return;
              }
              if (next.succeeded()) {
                answers.increment();
                read(node, next.result());
              } else {
                failures.increment();
                lastFailure = next.cause();
                link.vertx().setTimer(PAUSE_MILLIS, id -> read(node, fetches));
              }
            });
  }

  private List<FetchRequest> next(List<FetchRequest> fetches, FetchManyAnswer answer) {
    List<FetchRequest> next = new ArrayList<>(fetches);
    for (FetchManyAnswer.Part part : answer.parts()) {
      FetchAnswer of = FetchAnswer.decode(Frames.answerBody(part.frame()), true);
      long offset = Math.max(fetches.get(part.index()).offset(), of.next());
      for (FetchAnswer.Placed placed : of.batches()) {
        messages.add(placed.batch().count());
        offset = Math.max(offset, placed.endOffset());
      }
      next.set(part.index(), fetches.get(part.index()).from(offset));
    }
    return next;
  }

  @Override
  public void close() {
    closed = true;
    directory.close();
  }
}
