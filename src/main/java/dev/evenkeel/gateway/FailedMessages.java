package dev.evenkeel.gateway;

import dev.evenkeel.api.DeadLetterView;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.ClusterView;
import dev.evenkeel.bus.FailureFigures;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the failed messages of a group on all shards, and lists them page by page. */
record FailedMessages(ClusterCalls calls) {
  private static final Pattern NAME = Pattern.compile("([^/]*)/(\\d{1,9})/(\\d{1,18})");

  /** Identifies a failed message; as a text, topic/shard/offset. */
  record Id(Shard shard, long offset) {}

  /** Reads failed messages of one shard. */
  interface Reader<T> {
    /**
     * Adds messages from an offset on to the page.
     *
     * @return where to read on; null: the shard has no more
     */
    Future<Long> read(ClusterView view, String group, Id from, Page<T> page);
  }

  /**
   * Lists messages by topic, shard and offset.
   *
   * @param after name of the message in front of the first one; null: there is none
   * @param has whether a shard has any of them
   */
  <T> Future<List<T>> list(
      String group, String after, int limit, Predicate<FailureFigures> has, Reader<T> reader) {
    Page<T> page = new Page<>(limit);
    return calls
        .newestTopics()
        .compose(
            view -> {
              Id last = after == null ? null : id(view, after);
              return figures(view, group)
                  .map(figures -> starts(figures, has, last))
                  .compose(
                      starts -> fill(page, starts, null, at -> reader.read(view, group, at, page)));
            })
        .map(done -> page.items());
  }

  /**
   * Where to begin in each shard that has any.
   *
   * @param last the message in front of the first one; null: there is none
   */
  private static Iterator<Id> starts(
      List<FailureFigures> figures, Predicate<FailureFigures> has, Id last) {
    return figures.stream()
        .filter(has)
        .map(FailureFigures::shard)
        .filter(each -> last == null || each.compareTo(last.shard()) >= 0)
        .sorted()
        .map(
            each -> new Id(each, last != null && each.equals(last.shard()) ? last.offset() + 1 : 0))
        .iterator();
  }

  /**
   * Reads until the page is full.
   *
   * @param at where to read first; null: the next shard
   */
  private static Future<Void> fill(
      Page<?> page, Iterator<Id> starts, Id at, Function<Id, Future<Long>> read) {
    if (page.full() || at == null && !starts.hasNext()) {
      return Future.succeededFuture();
    }
    Id from = at == null ? starts.next() : at;
    return read.apply(from)
        .compose(
            next -> fill(page, starts, next == null ? null : new Id(from.shard(), next), read));
  }

  /** The figures of a group, by shard. Fails if one log group has no leader. */
  Future<List<FailureFigures>> figures(ClusterView view, String group) {
    return ClusterCalls.forEachDataGroup(
            view, i -> calls.toDataLeader(i, Calls.READ_FAILURES, new Calls.ReadFailures(i, group)))
        .map(parts -> parts.stream().flatMap(List::stream).toList());
  }

  static Id id(ClusterView view, String name) {
    return id(name, view::existing);
  }

  /**
   * What many names stand for: finds each topic once.
   *
   * @throws dev.evenkeel.protocol.RefusedException as {@link #id} does
   */
  static List<Id> ids(ClusterView view, List<String> names) {
    Map<String, TopicInfo> topics = new HashMap<>();
    return names.stream()
        .map(name -> id(name, topic -> topics.computeIfAbsent(topic, view::existing)))
        .toList();
  }

  private static Id id(String name, Function<String, TopicInfo> topics) {
    Matcher parts = NAME.matcher(name);
    if (!parts.matches()) {
      throw Refusal.INVALID.error(
          "'%s' does not name a dead letter: write %s", name, DeadLetterView.NAME);
    }
    TopicInfo topic = topics.apply(parts.group(1));
    int shard = Integer.parseInt(parts.group(2));
    if (!topic.has(shard)) {
      throw Refusal.UNKNOWN_SHARD.error(
          "there is no shard " + shard + " of '" + topic.name() + "': use " + topic.range());
    }
    return new Id(new Shard(topic.id(), shard), Long.parseLong(parts.group(3)));
  }

  /** The name of a shard's topic; null: it is gone. */
  static String topicOf(ClusterView view, Shard shard) {
    return view.topics().stream()
        .filter(each -> each.id() == shard.topicId())
        .map(TopicInfo::name)
        .findFirst()
        .orElse(null);
  }
}
