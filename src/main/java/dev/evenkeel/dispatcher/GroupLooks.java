package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.GroupScope;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.protocol.TopicInfo;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Looks at many groups at once, for lists, live views and metrics. There may be thousands, and the
 * dispatcher has other work on its context:
 *
 * <ul>
 *   <li>Only what is in the {@link GroupScope} of the question is read.
 *   <li>Reports are made in slices of about {@link #SLICE_NANOS}.
 *   <li>Who asks while a look of the same scope is under way shares the next one: an answer is
 *       never older than its question.
 *   <li>After a look of several slices the scope rests for {@link #REST} times as long as these.
 * </ul>
 *
 * <p>For use on the dispatcher's context.
 */
final class GroupLooks {
  private static final long SLICE_NANOS = 2_000_000;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long REST = 4;

  /** The looks of one scope, one after another. */
  private static final class Line {
    /** What the next look will answer; null: nobody has asked. */
    Promise<GroupsSeen> next;

    boolean busy;
  }

  private final Vertx vertx;
  private final Context context;
  private final Activation activation;
  private final Map<GroupScope, Line> lines = new HashMap<>();

  GroupLooks(Vertx vertx, Context context, Activation activation) {
    this.vertx = vertx;
    this.context = context;
    this.activation = activation;
  }

  /** What is in a scope, read after this call. */
  Future<GroupsSeen> look(GroupScope scope) {
    Line line = lines.computeIfAbsent(scope, any -> new Line());
    if (line.next == null) {
      line.next = Promise.promise();
    }
    Future<GroupsSeen> asked = line.next.future();
    if (!line.busy) {
      line.busy = true;
      begin(scope, line);
    }
    return asked;
  }

  private void begin(GroupScope scope, Line line) {
    if (line.next == null) {
      lines.remove(scope);
      return;
    }
    Promise<GroupsSeen> asked = line.next;
    line.next = null;
    Look look = new Look(scope);
    look.done
        .future()
        .onComplete(
            done -> {
              asked.handle(done);
              // Not what they took: the thread may have stood still meanwhile.
              long restMillis = REST * (look.slices - 1) * SLICE_NANOS / NANOS_PER_MILLI;
              if (restMillis <= 0) {
                begin(scope, line);
              } else {
                vertx.setTimer(restMillis, timer -> begin(scope, line));
              }
            });
    look.begin();
  }

  private final class Look {
    private final GroupScope scope;
    private final Promise<GroupsSeen> done = Promise.promise();
    private final List<GroupReport> made = new ArrayList<>();
    private GroupReports reports;
    private Iterator<GroupState> left;

    private int slices;

    Look(GroupScope scope) {
      this.scope = scope;
    }

    /** Whatever happens, it comes to an end: others wait for it. */
    void begin() {
      Future<GroupReports> read;
      try {
        List<GroupState> groups = core().all(scope);
        read =
            scope.equals(GroupScope.ALL)
                ? activation.look(null, (core, reports) -> reports)
                : activation.reports(topicsOf(groups), groups);
      } catch (RuntimeException e) {
        done.fail(e);
        return;
      }
      read.onSuccess(this::read).onFailure(done::fail);
    }

    private DispatcherCore core() {
      return activation.core();
    }

    /** Numbers of the topics to read. */
    private Set<Integer> topicsOf(List<GroupState> groups) {
      Set<Integer> numbers = new HashSet<>();
      for (GroupState group : groups) {
        group.shards(core().topics()).forEach(shard -> numbers.add(shard.topicId()));
      }
      for (TopicInfo topic : core().topics().all()) {
        if (scope.hasTopic(topic.name())) {
          numbers.add(topic.id());
        }
      }
      return numbers;
    }

    private void read(GroupReports read) {
      reports = read;
      slice();
    }

    private void slice() {
      slices++;
      long beginNanos = System.nanoTime();
      long spentNanos = 0;
      try {
        left = left == null ? core().all(scope).iterator() : left;
        while (left.hasNext() && spentNanos < SLICE_NANOS) {
          GroupState group = left.next();
          // It may have been forgotten meanwhile.
          if (core().find(group.name()) == group) {
            made.add(reports.of(group));
          }
          spentNanos = System.nanoTime() - beginNanos;
        }
      } catch (RuntimeException e) {
        done.fail(e);
        return;
      }
      if (left.hasNext()) {
        context.runOnContext(later -> slice());
      } else {
        done.complete(new GroupsSeen(made, List.copyOf(core().topics().all()), reports.statuses()));
      }
    }
  }
}
