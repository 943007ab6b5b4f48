package dev.evenkeel.client.internal.spool;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.LeaderClient.Retry;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.Router;
import dev.evenkeel.client.internal.produce.core.ShardChoice;
import dev.evenkeel.client.internal.spool.log.SpoolState;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.SpoolPublisher;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.Murmur2;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Sends what former shards did not take of a spool to the shards that are open now, frame by frame.
 * Former shards are sealed, or gone.
 *
 * <p>The messages go under a producer of their own, as those of handlers do: their sequences follow
 * from the number of the frame and the place in it, and may have gaps. So whoever sends a frame
 * again, perhaps in another run of the program, sends the same, and the log notices it. See ADR 15.
 */
final class SpoolReroute {
  /** Sequences leave this many bits for the messages of a frame; they count from 1. */
  private static final int INDEX_BITS = 24;

  /** As many runs of a spool have epochs of their own between two of its producer. */
  private static final int RUNS = 1_000;

  private static final int BUILDER_BYTES = 512;
  private static final long REQUEST_MILLIS = 5_000;
  private static final long PATIENCE_MILLIS = 10_000;
  private static final long PAUSE_MILLIS = 100;

  /**
   * A batch of a former shard.
   *
   * @param batch with its place in the epoch of its run
   * @param place of its first message in the frame
   * @param untaken the shard has surely not taken it
   */
  record Item(int shard, Batch batch, int place, long dueMillis, boolean untaken) {}

  /**
   * What became of a batch.
   *
   * @param offset of its first message if its own shard had it, else -1
   * @param shards if not, where each of its messages is now; else null
   */
  record Moved(long offset, int[] shards) {}

  /** The log cannot tell whether it has a batch: INDETERMINATE, and asking again does not help. */
  static final class Unknown extends RefusedException {
    private static final long serialVersionUID = 1L;

    Unknown(int shard) {
      super(
          Refusal.INDETERMINATE,
          "shard %s was dropped after the topic got other shards, and the cluster does not remember"
              + " which messages of this spool it had taken: to send them all the same, perhaps"
              + " twice, use %s",
          shard,
          ProducerOptions.setter("spoolResend"));
    }
  }

  private final Link link;
  private final ClusterDirectory directory;
  private final LeaderClient leaders;
  private final long producerId;
  private final int epoch;
  private final boolean resend;

  /** Or null. */
  private final Router router;

  /** How many data groups know the producer. */
  private int openedGroups;

  /** By former shard, the last sequence that it took of this producer; null: not opened yet. */
  private Map<Shard, Long> lastInFormer;

  /**
   * @param state of the spool at the start of the run
   * @param resend send batches again of which it is unknown whether the log has them
   * @param router null: by the key
   */
  SpoolReroute(
      Link link, ClusterDirectory directory, SpoolState state, boolean resend, Router router) {
    this.link = link;
    this.directory = directory;
    producerId = state.identity().producerId();
    epoch = epoch(state);
    this.resend = resend;
    this.router = router;
    leaders = new LeaderClient(link, directory);
  }

  /**
   * Grows from run to run: what a former run still sends is fenced. Spools that follow one another
   * under a name have one id, and their runs count anew, but the epochs of their producer go on.
   */
  private static int epoch(SpoolState state) {
    if (state.identity().producerName().isEmpty()) {
      return state.run();
    }
    int run = Math.min(RUNS, 1 + state.run() - state.openRun());
    return (int) Math.min(Integer.MAX_VALUE, (long) RUNS * state.epoch() + run);
  }

  /**
   * Moves the batches of a frame.
   *
   * @param topic as it is now
   * @return what became of each. If it fails with a refusal that may pass, or with SEALED because
   *     the topic has other shards by now, the frame may be moved again. With {@link Unknown} it is
   *     unknown whether the log has a batch
   */
  Future<List<Moved>> move(TopicInfo topic, long frame, List<Item> items) {
    return probe(topic, items, 0, new ArrayList<>())
        .compose(offsets -> opened(topic).map(done -> offsets))
        .compose(offsets -> send(topic, frame, items, offsets))
        .onFailure(failure -> lastInFormer = null);
  }

  /** Asks the former shards which batches they have; one after another, as they were sent. */
  private Future<List<Long>> probe(
      TopicInfo topic, List<Item> items, int from, List<Long> offsets) {
    if (from == items.size()) {
      return Future.succeededFuture(offsets);
    }
    Item item = items.get(from);
    if (item.untaken()) {
      offsets.add(null);
      return probe(topic, items, from + 1, offsets);
    }
    Shard shard = new Shard(topic.id(), item.shard());
    AppendBody.Item asked = new AppendBody.Item(shard, item.batch(), item.dueMillis());
    return append(directory.shardGroups().of(shard), List.of(asked))
        .compose(
            results -> {
              AppendResults.Result result = results.get(0);
              offsets.add(
                  result.ok()
                      ? (Long) result.value()
                      : untaken(topic, item.shard(), result.refusal()));
              return probe(topic, items, from + 1, offsets);
            });
  }

  /** Null if a former shard that refuses a batch has not taken it earlier, either. */
  private Long untaken(TopicInfo topic, int shard, Refusal refusal) {
    switch (refusal) {
      case SEALED, SEQUENCE_GAP -> {
        return null;
      }
      case UNKNOWN_SHARD, UNKNOWN_TOPIC -> {
        boolean told = refusal == Refusal.UNKNOWN_SHARD && topic.remembers(shard);
        boolean forgotten = !topic.has(shard) && !topic.remembers(shard);
        if (told || forgotten && resend) {
          return null;
        }
        if (forgotten) {
          throw new Unknown(shard);
        }
      }
      case UNKNOWN_PRODUCER -> {
        if (resend) {
          return null;
        }
        throw forgottenProducer();
      }
      default -> {}
    }
    throw new RefusedException(refusal, "shard " + shard + " does not tell what it took");
  }

  static RefusedException forgottenProducer() {
    return new RefusedException(
        Refusal.UNKNOWN_PRODUCER,
        "the cluster has forgotten the producer of this spool, which was silent for too long:"
            + " what the log has of the messages that an earlier run left in it is unknown;"
            + " to send them all the same, perhaps twice, use %s",
        ProducerOptions.setter("spoolResend"));
  }

  private Future<?> opened(TopicInfo topic) {
    int groups = directory.dataGroups();
    if (lastInFormer != null && groups == openedGroups) {
      return Future.succeededFuture();
    }
    List<Future<Reply>> replies =
        IntStream.range(0, groups).mapToObj(group -> open(topic, group)).toList();
    return Future.all(replies)
        .onSuccess(
            all -> {
              Map<Shard, Long> last = new HashMap<>();
              for (Reply reply : all.<Reply>list()) {
                if (reply instanceof Reply.OfSequences of) {
                  last.putAll(of.lastSequences());
                }
              }
              lastInFormer = last;
              openedGroups = groups;
            });
  }

  private Future<Reply> open(TopicInfo topic, int group) {
    return open(group, SpoolPublisher.input(topic.id()))
        .recover(
            failure ->
                // An older client has opened it.
                RefusedException.of(failure).refusal() == Refusal.INVALID
                    ? open(group, SpoolPublisher.formerInput(topic.id()))
                    : Future.failedFuture(failure));
  }

  private Future<Reply> open(int group, Shard input) {
    DataCommand command =
        new DataCommand.OpenPublisher(
            SpoolPublisher.id(producerId), epoch, SpoolPublisher.group(producerId), input, true);
    return leaders.submit(group, command, REQUEST_MILLIS, retry());
  }

  private static Retry retry() {
    return Retry.within(PATIENCE_MILLIS, PAUSE_MILLIS, () -> false);
  }

  /**
   * A message that its own shard did not take.
   *
   * @param sequence grows within the frame
   */
  private record Left(int item, int place, Message message, long dueMillis, long sequence) {}

  private Future<List<Moved>> send(
      TopicInfo topic, long frame, List<Item> items, List<Long> offsets) {
    List<Moved> moved = new ArrayList<>();
    List<Left> left = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      Item item = items.get(i);
      if (offsets.get(i) != null) {
        moved.add(new Moved(offsets.get(i), null));
        continue;
      }
      int count = item.batch().count();
      moved.add(new Moved(-1, new int[count]));
      long sequence = frame << INDEX_BITS | item.place() + 1;
      BatchReader messages = item.batch().reader(0);
      for (int j = 0; j < count; j++) {
        left.add(new Left(i, j, messages.next(), item.dueMillis(), sequence + j));
      }
    }
    Router by = routes(topic, left, items) ? router : null;
    for (TopicInfo.Layout layout : topic.former()) {
      left = withoutTaken(topic, layout, left, items, by, moved);
    }
    Map<Integer, List<AppendBody.Item>> byGroup = new TreeMap<>();
    for (Part part : parts(topic, topic.open(), left, items, by)) {
      part.note(moved);
      int group = directory.shardGroups().of(part.shard);
      byGroup.computeIfAbsent(group, none -> new ArrayList<>()).add(part.item());
    }
    List<Future<?>> sent = new ArrayList<>();
    byGroup.forEach((group, batches) -> sent.add(send(group, AppendBody.requests(batches), 0)));
    return Future.all(sent).map(all -> moved);
  }

  /** Sends one request after the other: the sequences of a shard only grow. */
  private Future<?> send(int group, List<List<AppendBody.Item>> requests, int next) {
    return next == requests.size()
        ? Future.succeededFuture()
        : append(group, requests.get(next))
            .map(this::allTaken)
            .compose(taken -> send(group, requests, next + 1));
  }

  /**
   * Without what the shards of a layout in between took: of messages for earlier layouts. They were
   * sent there without the later ones of the frame.
   */
  private List<Left> withoutTaken(
      TopicInfo topic,
      TopicInfo.Layout layout,
      List<Left> left,
      List<Item> items,
      Router by,
      List<Moved> moved) {
    List<Left> earlier = new ArrayList<>();
    List<Left> still = new ArrayList<>();
    for (Left each : left) {
      (items.get(each.item()).shard() < layout.first() ? earlier : still).add(each);
    }
    for (Part part : parts(topic, layout, earlier, items, by)) {
      if (lastInFormer.getOrDefault(part.shard, -1L) >= part.messages.get(0).sequence()) {
        part.note(moved);
      } else {
        still.addAll(part.messages);
      }
    }
    still.sort(Comparator.comparingLong(Left::sequence));
    return still;
  }

  /** The messages of one batch. */
  private final class Part {
    final Shard shard;
    final List<Left> messages = new ArrayList<>();
    final BatchBuilder builder = new BatchBuilder(BUILDER_BYTES);

    Part(Shard shard) {
      this.shard = shard;
    }

    boolean takes(Left next) {
      return messages.isEmpty()
          || messages.get(0).dueMillis() == next.dueMillis()
              && builder.fits(next.message(), Limits.BATCH_BYTES_MAX);
    }

    void note(List<Moved> moved) {
      messages.forEach(each -> moved.get(each.item()).shards()[each.place()] = shard.shard());
    }

    AppendBody.Item item() {
      Batch batch = builder.build(SpoolPublisher.id(producerId), epoch, messages.get(0).sequence());
      return new AppendBody.Item(shard, batch, messages.get(0).dueMillis());
    }
  }

  /** Batches for a layout: the same, whoever makes them. Those of a shard are in their order. */
  private List<Part> parts(
      TopicInfo topic, TopicInfo.Layout layout, List<Left> messages, List<Item> items, Router by) {
    List<Part> all = new ArrayList<>();
    Map<Integer, Part> last = new HashMap<>();
    for (Left each : messages) {
      int shard = shard(each.message(), items.get(each.item()).shard(), layout, by);
      Part part = last.get(shard);
      if (part == null || !part.takes(each)) {
        part = new Part(new Shard(topic.id(), shard));
        last.put(shard, part);
        all.add(part);
      }
      part.messages.add(each);
      part.builder.add(each.message());
    }
    return all;
  }

  /**
   * Whether the router gives the messages with keys the shards that they have. Another one, whose
   * shards change from call to call, would have the log take messages for others that it has.
   */
  private boolean routes(TopicInfo topic, List<Left> left, List<Item> items) {
    return router != null
        && left.stream()
            .filter(each -> each.message().key() != null)
            .allMatch(each -> routes(topic, each.message(), items.get(each.item()).shard()));
  }

  private boolean routes(TopicInfo topic, Message message, int shard) {
    try {
      return topic.former().stream()
          .anyMatch(
              layout ->
                  layout.has(shard)
                      && router.route(message, layout.shards()) == shard - layout.first());
    } catch (RuntimeException e) {
      return false;
    }
  }

  /**
   * Messages without a key stay together.
   *
   * @param by null: the key
   */
  private static int shard(Message message, int former, TopicInfo.Layout layout, Router by) {
    int place;
    if (message.key() == null) {
      place = former % layout.shards();
    } else if (by == null) {
      place = Murmur2.shard(message.key(), layout.shards());
    } else {
      place = new ShardChoice(by).of(message, layout.shards());
    }
    return layout.first() + place;
  }

  private Void allTaken(List<AppendResults.Result> results) {
    for (AppendResults.Result result : results) {
      if (!result.ok()) {
        throw new RefusedException(
            result.refusal(), "what a former shard did not take: " + result.refusal().usualWords());
      }
    }
    return null;
  }

  private Future<List<AppendResults.Result>> append(int group, List<AppendBody.Item> items) {
    Bytes body = new Bytes();
    items.forEach(item -> AppendBody.write(body, item));
    return leaders
        .ask(
            group,
            retry(),
            (asked, leader) ->
                link.request(
                    Addresses.data(leader), Frames.request(Op.APPEND, body), REQUEST_MILLIS))
        .map(answer -> AppendResults.decode(Frames.answerBody(answer)).results());
  }
}
