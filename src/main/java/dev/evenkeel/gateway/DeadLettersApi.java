package dev.evenkeel.gateway;

import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.bus.LeaderClient;
import dev.evenkeel.bus.Op;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.DeadLetter;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.DeadLettersAnswer;
import dev.evenkeel.protocol.wire.DeadLettersAnswer.Opened;
import dev.evenkeel.protocol.wire.RecordCodec;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Lists, shows, replays and drops the dead letters of a group on all shards. */
final class DeadLettersApi {
  private final ClusterCalls calls;

  DeadLettersApi(ClusterCalls calls) {
    this.calls = calls;
  }

  /** Identifies a dead letter. */
  record LetterId(Shard shard, long offset) {}

  /** Lists dead letters by topic, shard and offset, after the one that the request names. */
  Future<Object> list(JsonObject request) {
    String group = JsonFields.neededText(request, "group");
    Page page = Page.of(request);
    String after = JsonFields.text(request, "after");
    return calls
        .topics()
        .compose(
            view -> {
              LetterId last = after == null ? null : id(view, after);
              Shard lastShard = last == null ? null : last.shard();
              return figures(view, group)
                  .compose(
                      figures -> {
                        Iterator<LetterId> starts =
                            figures.stream()
                                .filter(each -> each.dead() > 0)
                                .map(FailureFigures::shard)
                                .filter(each -> last == null || each.compareTo(last.shard()) >= 0)
                                .sorted()
                                .map(
                                    each ->
                                        new LetterId(
                                            each, each.equals(lastShard) ? last.offset() + 1 : 0))
                                .iterator();
                        return fill(page, view, group, starts, next(starts));
                      });
            })
        .map(done -> page.items());
  }

  private static LetterId next(Iterator<LetterId> starts) {
    return starts.hasNext() ? starts.next() : null;
  }

  /** Reads from {@code at}, then from where {@code starts} says, until the page is full. */
  private Future<Void> fill(
      Page page, ClusterView view, String group, Iterator<LetterId> starts, LetterId at) {
    if (at == null || page.full()) {
      return Future.succeededFuture();
    }
    return read(group, at.shard(), at.offset(), page.itemsLeft())
        .compose(
            letters -> {
              letters.forEach(letter -> add(page, view, letter));
              LetterId next =
                  letters.isEmpty()
                      ? next(starts)
                      : new LetterId(
                          at.shard(), letters.get(letters.size() - 1).letter().offset() + 1);
              return fill(page, view, group, starts, next);
            });
  }

  private Future<List<Opened>> read(String group, Shard shard, long from, int max) {
    return ask(group, shard, from, max, Limits.FETCH_BYTES_MAX).map(DeadLettersAnswer::opened);
  }

  private Future<DeadLettersAnswer> ask(
      String group, Shard shard, long from, int max, int bytesMax) {
    Bytes body = new Bytes().text(group);
    RecordCodec.write(body, shard);
    body.i64(from).i32(max).i32(bytesMax);
    return calls.toLeaderOf(shard, Op.READ_DEAD_LETTERS, body).map(DeadLettersAnswer::decode);
  }

  /** Shows one dead letter. */
  Future<Object> show(JsonObject request) {
    String group = JsonFields.neededText(request, "group");
    String name = JsonFields.neededText(request, "deadLetter");
    return calls
        .topics()
        .compose(
            view -> {
              LetterId id = id(view, name);
              return read(group, id.shard(), id.offset(), 1)
                  .map(
                      found -> {
                        if (found.isEmpty() || found.get(0).letter().offset() != id.offset()) {
                          throw new RefusedException(
                              Refusal.OFFSET_OUT_OF_RANGE,
                              "group '" + group + "' has no dead letter " + name);
                        }
                        return json(view, found.get(0));
                      });
            });
  }

  /**
   * Replays dead letters as retries, or drops them. With {@code dryRun}, only counts them.
   *
   * @param replay false: drops them
   */
  Future<Object> change(JsonObject request, boolean replay) {
    String group = JsonFields.neededText(request, "group");
    JsonArray names = JsonFields.arrayField(request, "deadLetters");
    boolean all = Boolean.TRUE.equals(request.getValue("all"));
    if (all == (names != null)) {
      throw JsonFields.invalid("give either 'deadLetters', a list of names, or 'all': true");
    }
    boolean dryRun = JsonFields.flag(request, "dryRun");
    return calls
        .topics()
        .compose(
            view -> {
              if (all) {
                return dryRun ? counted(view, group) : everything(view, group, replay);
              }
              Map<Shard, NavigableSet<Long>> offsets = offsets(view, names);
              return dryRun ? counted(group, offsets) : named(view, group, offsets, replay);
            })
        .map(
            count -> {
              JsonObject answer = new JsonObject().put("group", group).put("count", count);
              return dryRun ? answer.put("dryRun", true) : answer;
            });
  }

  private static Map<Shard, NavigableSet<Long>> offsets(ClusterView view, JsonArray names) {
    Map<Shard, NavigableSet<Long>> offsets = new TreeMap<>();
    for (Object name : names) {
      LetterId id = id(view, String.valueOf(name));
      offsets.computeIfAbsent(id.shard(), any -> new TreeSet<>()).add(id.offset());
    }
    return offsets;
  }

  /** How many dead letters the group has. */
  private Future<Long> counted(ClusterView view, String group) {
    return figures(view, group)
        .map(figures -> figures.stream().mapToLong(FailureFigures::dead).sum());
  }

  /** How many of these messages are dead letters of the group. */
  private Future<Long> counted(String group, Map<Shard, NavigableSet<Long>> offsets) {
    List<Supplier<Future<Long>>> steps = new ArrayList<>();
    offsets.forEach((shard, of) -> steps.add(() -> counted(group, shard, of, of.first())));
    return sum(steps);
  }

  private Future<Long> counted(String group, Shard shard, NavigableSet<Long> of, long from) {
    return ask(group, shard, from, Page.LIMIT_MAX, 0)
        .compose(
            answer -> {
              List<Long> found = answer.letters().stream().map(DeadLetter::offset).toList();
              long count = found.stream().filter(of::contains).count();
              Long next = found.isEmpty() ? null : of.higher(found.get(found.size() - 1));
              return next == null
                  ? Future.succeededFuture(count)
                  : counted(group, shard, of, next).map(more -> count + more);
            });
  }

  private Future<Long> named(
      ClusterView view, String group, Map<Shard, NavigableSet<Long>> offsets, boolean replay) {
    List<Supplier<Future<Long>>> steps = new ArrayList<>();
    offsets.forEach(
        (shard, set) -> {
          List<Long> of = List.copyOf(set);
          for (int from = 0; from < of.size(); from += Limits.OUTCOMES_A_COMMAND_MAX) {
            int to = Math.min(of.size(), from + Limits.OUTCOMES_A_COMMAND_MAX);
            List<Long> some = of.subList(from, to);
            steps.add(
                () -> submit(view, group, shard, some, replay).map(done -> (long) done.size()));
          }
        });
    return sum(steps);
  }

  /** Does one step after the other. */
  private static Future<Long> sum(List<Supplier<Future<Long>>> steps) {
    Future<Long> sum = Future.succeededFuture(0L);
    for (Supplier<Future<Long>> step : steps) {
      sum = sum.compose(count -> step.get().map(done -> count + done));
    }
    return sum;
  }

  private Future<Long> everything(ClusterView view, String group, boolean replay) {
    return figures(view, group)
        .compose(
            figures -> {
              List<Supplier<Future<Long>>> steps = new ArrayList<>();
              figures.forEach(
                  each -> steps.add(() -> whole(view, group, each.shard(), each.dead(), replay)));
              return sum(steps);
            });
  }

  /**
   * Changes at most {@code left} dead letters of a shard, so that those that fail again meanwhile
   * are not replayed again.
   */
  private Future<Long> whole(
      ClusterView view, String group, Shard shard, long left, boolean replay) {
    if (left <= 0) {
      return Future.succeededFuture(0L);
    }
    int max = (int) Math.min(left, Limits.OUTCOMES_A_COMMAND_MAX);
    // Without messages: they would be read from all over the disk, and one may be damaged.
    return ask(group, shard, 0, max, 0)
        .compose(
            answer -> {
              List<Long> offsets = answer.letters().stream().map(DeadLetter::offset).toList();
              if (offsets.isEmpty()) {
                return Future.succeededFuture(0L);
              }
              return submit(view, group, shard, offsets, replay)
                  .compose(
                      done ->
                          done.isEmpty()
                              ? Future.succeededFuture(0L)
                              : whole(view, group, shard, left - done.size(), replay)
                                  .map(more -> more + done.size()));
            });
  }

  private Future<List<Long>> submit(
      ClusterView view, String group, Shard shard, List<Long> offsets, boolean replay) {
    int dataGroup = view.shardGroups().of(shard);
    Bytes body = new Bytes(64 + 8 * offsets.size()).i32(dataGroup);
    CommandCodec.write(
        body,
        replay
            ? new DataCommand.ReplayDeadLetters(group, shard, offsets)
            : new DataCommand.DropDeadLetters(group, shard, offsets));
    return calls
        .toDataLeader(dataGroup, Op.SUBMIT_DATA, body)
        .map(answer -> ((Reply.OfOffsets) LeaderClient.reply(answer)).offsets());
  }

  /**
   * The failed messages of a group, by shard. Fails if a log group has no leader.
   *
   * @return fails if one log group has no leader
   */
  Future<List<FailureFigures>> figures(ClusterView view, String group) {
    return ClusterCalls.forEachDataGroup(
            view,
            i ->
                calls
                    .toDataLeader(i, Op.READ_FAILURES, new Bytes().i32(i).text(group))
                    .map(answer -> FailureFigures.LIST.read(new ByteReader(answer))))
        .map(parts -> parts.stream().flatMap(List::stream).toList());
  }

  static LetterId id(ClusterView view, String name) {
    String[] parts = name.split("/", -1);
    if (parts.length != 3 || !parts[1].matches("\\d{1,9}") || !parts[2].matches("\\d{1,18}")) {
      throw JsonFields.invalid(
          "'" + name + "' does not name a dead letter: write topic/shard/offset, like orders/2/17");
    }
    TopicInfo topic = view.existing(parts[0]);
    int shard = Integer.parseInt(parts[1]);
    if (!topic.has(shard)) {
      throw new RefusedException(
          Refusal.UNKNOWN_SHARD,
          "there is no shard " + shard + " of '" + topic.name() + "': use " + topic.range());
    }
    return new LetterId(new Shard(topic.id(), shard), Long.parseLong(parts[2]));
  }

  /** The name of a shard's topic; null: it is gone. */
  static String topicOf(ClusterView view, Shard shard) {
    return view.topics().stream()
        .filter(each -> each.id() == shard.topicId())
        .map(TopicInfo::name)
        .findFirst()
        .orElse(null);
  }

  private static JsonObject json(ClusterView view, Opened opened) {
    DeadLetter letter = opened.letter();
    JsonObject json =
        new JsonObject()
            .put("topic", topicOf(view, letter.shard()))
            .put("shard", letter.shard().shard())
            .put("offset", letter.offset());
    Message message = opened.message();
    TextOrBase64.put(json, "key", message.key());
    TextOrBase64.put(json, "payload", message.payload());
    return json.put("attempts", letter.attempts())
        .put("error", letter.error())
        .put("firstFailed", Instant.ofEpochMilli(letter.firstFailedMillis()).toString())
        .put("lastFailed", Instant.ofEpochMilli(letter.lastFailedMillis()).toString());
  }

  private static void add(Page page, ClusterView view, Opened letter) {
    if (!page.full()) {
      page.count(BatchBuilder.sizeOf(letter.message()));
      page.add(json(view, letter));
    }
  }
}
