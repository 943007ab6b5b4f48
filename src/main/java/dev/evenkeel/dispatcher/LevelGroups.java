package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterDirectory;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.Heartbeat;
import dev.evenkeel.bus.Link;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.dispatcher.core.DispatcherCore;
import dev.evenkeel.dispatcher.core.GroupState;
import dev.evenkeel.dispatcher.core.Member;
import dev.evenkeel.dispatcher.core.UnheardMember;
import dev.evenkeel.dispatcher.level.LevelDispatcher;
import dev.evenkeel.dispatcher.level.LevelDispatcher.Wanted;
import dev.evenkeel.dispatcher.level.core.LevelFigures;
import dev.evenkeel.dispatcher.level.core.LiveMember;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Refusal;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.VertxInternal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;

/** The level dispatchers of this node: one for each group in mode level that has members. */
final class LevelGroups {
  /** How long a group without members keeps its level dispatcher: perhaps a member comes back. */
  private static final long MEMBERLESS_MILLIS_MAX = 10_000;

  /** Strictest last. */
  private static final List<String> ORDERS = List.of("none", "key", "shard");

  /** Most attempts last, then longest pauses. */
  private static final Comparator<List<Long>> DELAYS =
      Comparator.<List<Long>>comparingInt(List::size)
          .thenComparingLong(delays -> delays.stream().mapToLong(Long::longValue).sum())
          .thenComparing(List::toString);

  private static final class Open {
    final Wanted wanted;
    final String instance = UUID.randomUUID().toString();
    LevelDispatcher dispatcher;
    List<LiveMember> members = List.of();
    long memberlessSinceMillis = -1;

    Open(Wanted wanted) {
      this.wanted = wanted;
    }
  }

  private final Context context;
  private final String node;
  private final Link link;
  private final ClusterDirectory directory;
  private final MessageConsumer<Object> reports;

  /** Also those that are closing. Read from any thread. */
  private final Map<String, LevelDispatcher> byGroup = new ConcurrentHashMap<>();

  private final Map<String, Open> open = new HashMap<>();

  /** Of the activation that these groups are for; null: this node is not the dispatcher. */
  private DispatcherCore core;

  /** Makes a run the holder of a group, or nobody if it is null. */
  private BiConsumer<String, String> appoint;

  private boolean syncing;

  /**
   * @param vertx the clustered one of the node
   * @param context on which all but reports happens
   */
  LevelGroups(Vertx vertx, Context context, String node) {
    this.context = context;
    this.node = node;
    link = new VertxLink(vertx, null);
    directory = new ClusterDirectory(link);
    // Reports have an event loop of their own, because they come by thousands.
    List<MessageConsumer<Object>> consumers = new ArrayList<>();
    ((VertxInternal) vertx)
        .createEventLoopContext()
        .dispatch(
            null,
            none ->
                consumers.add(
                    vertx.eventBus().consumer(Addresses.levelDispatcher(node), this::reported)));
    reports = consumers.get(0);
  }

  private void reported(Message<Object> message) {
    String user = message.headers().get(Frames.USER);
    VertxLink.serve(body -> reported(body, user), VertxLink.buffer(message.body()))
        .onSuccess(message::reply);
  }

  private Future<Buffer> reported(Buffer body, String user) {
    if (Frames.op(body) != Op.LEVEL_REPORT) {
      throw Refusal.INVALID.error("%s is not for a level dispatcher", Frames.op(body));
    }
    Report report = Report.decode(Frames.body(body));
    LevelDispatcher dispatcher = byGroup.get(report.group());
    if (dispatcher == null) {
      throw Refusal.FENCED.error("no level dispatcher of group " + report.group() + " is here");
    }
    return dispatcher.reported(report, user);
  }

  /**
   * This node has become the dispatcher.
   *
   * @param newAppoint makes a run the holder of a group, or nobody if it is null
   */
  void activate(DispatcherCore newCore, BiConsumer<String, String> newAppoint) {
    core = newCore;
    appoint = newAppoint;
  }

  /**
   * Opens and closes level dispatchers as the groups need them now, and gives them their members.
   */
  void sync(long nowMillis) {
    if (syncing || core == null) {
      return;
    }
    syncing = true;
    try {
      Set<String> seen = new HashSet<>();
      for (GroupState group : core.all()) {
        if (group.info() != null && group.info().policy().isLevel()) {
          seen.add(group.name());
          sync(group, nowMillis);
        }
      }
      List<String> others = new ArrayList<>(open.keySet());
      others.removeAll(seen);
      others.forEach(this::close);
    } finally {
      syncing = false;
    }
  }

  /** The same for some groups. */
  void sync(Collection<String> groups, long nowMillis) {
    if (syncing || core == null) {
      return;
    }
    syncing = true;
    try {
      for (String name : groups) {
        GroupState group = core.find(name);
        if (group != null && group.info() != null && group.info().policy().isLevel()) {
          sync(group, nowMillis);
        } else if (open.containsKey(name)) {
          close(name);
        }
      }
    } finally {
      syncing = false;
    }
  }

  private void sync(GroupState group, long nowMillis) {
    List<LiveMember> members = members(group);
    Open now = open.get(group.name());
    if (group.info().topics().isEmpty()) {
      // There is nothing to hand out: patterns match no topic, or all topics are gone.
      if (now != null) {
        close(group.name());
      }
      return;
    }
    if (members.isEmpty()) {
      if (now != null) {
        idle(group, now, nowMillis);
      }
      return;
    }
    Wanted wanted = wanted(group);
    if (now != null && !now.wanted.equals(wanted)) {
      if (!members.equals(now.members)) {
        // Only the dispatcher that handed the messages out can count these deaths.
        changed(group, now, members);
      }
      close(group.name());
      now = null;
    }
    if (now == null) {
      now = new Open(wanted);
      open.put(group.name(), now);
      appoint.accept(group.name(), now.instance);
      start(group.name(), now);
    }
    now.memberlessSinceMillis = -1;
    if (!members.equals(now.members)) {
      changed(group, now, members);
    }
  }

  private static void changed(GroupState group, Open now, List<LiveMember> members) {
    for (LiveMember each : now.members) {
      // Of a run that is still there, nothing is known.
      List<MessageId> diedOf = group.members().takeDiedOf(each.instance());
      if (!diedOf.isEmpty()) {
        now.dispatcher.died(each.instance(), diedOf);
      }
    }
    now.members = members;
    now.dispatcher.members(members);
  }

  private void idle(GroupState group, Open now, long nowMillis) {
    if (now.memberlessSinceMillis < 0) {
      now.memberlessSinceMillis = nowMillis;
      changed(group, now, List.of());
    } else if (nowMillis - now.memberlessSinceMillis >= MEMBERLESS_MILLIS_MAX) {
      close(group.name());
    }
  }

  private void start(String group, Open now) {
    DispatcherCore its = core;
    now.dispatcher =
        new LevelDispatcher(
            link,
            directory,
            group,
            node,
            now.wanted,
            now.instance,
            which -> {
              byGroup.remove(group, which);
              context.runOnContext(then -> ended(its, group, now));
            });
    LevelDispatcher former = byGroup.put(group, now.dispatcher);
    if (former != null) {
      former.abandon();
    }
    now.dispatcher.start();
  }

  /** A level dispatcher has ended: if the group needs one, the next sync opens another. */
  private void ended(DispatcherCore its, String group, Open which) {
    Open now = open.get(group);
    if (its == core && (now == null || now == which)) {
      open.remove(group);
      appoint.accept(group, null);
    }
  }

  /** It owns the group until it has ended, so that it can release its shards. */
  private void close(String group) {
    open.remove(group).dispatcher.close();
  }

  private static Wanted wanted(GroupState group) {
    String strictest = ORDERS.get(0);
    List<Long> longest = null;
    List<String> filter = null;
    for (Heartbeat.Wishes wishes : wishes(group)) {
      String order = wishes.order();
      if (order != null && ORDERS.indexOf(order) > ORDERS.indexOf(strictest)) {
        strictest = order;
      }
      List<Long> delays = wishes.retryDelaysMillis();
      if (delays != null && (longest == null || DELAYS.compare(delays, longest) > 0)) {
        longest = delays;
      }
      filter = wishes.filter() == null ? filter : wishes.filter();
    }
    return new Wanted(
        Set.copyOf(group.info().topics()), group.info().policy(), strictest, longest, filter);
  }

  /**
   * Also of members that were not heard yet: they have messages in hand that were handed out by
   * these wishes.
   */
  private static List<Heartbeat.Wishes> wishes(GroupState group) {
    List<Heartbeat.Wishes> wishes = new ArrayList<>();
    group.members().live().forEach(member -> wishes.add(member.beat().wishes()));
    group.members().unheard().forEach(run -> wishes.add(run.wishes()));
    return wishes;
  }

  /** Also members that only the registry names: if they answer, they are there. */
  private static List<LiveMember> members(GroupState group) {
    List<LiveMember> members = new ArrayList<>();
    for (Member member : group.members().live()) {
      Heartbeat beat = member.beat();
      members.add(
          new LiveMember(
              member.name(),
              member.instance(),
              beat.stallTimeoutMillis(),
              beat.wishes().crashesMax(),
              beat.closing(),
              beat.user(),
              beat.home(),
              true));
    }
    for (UnheardMember run : group.members().unheard()) {
      if (group.members().live(run.name()) == null) {
        members.add(
            new LiveMember(
                run.name(),
                run.instance(),
                run.wishes().stallTimeoutMillis() == null
                    ? Limits.STALL_TIMEOUT_MILLIS_DEFAULT
                    : run.wishes().stallTimeoutMillis(),
                run.wishes().crashesMax(),
                false,
                run.user(),
                null,
                false));
      }
    }
    return members;
  }

  /** A run holds its group's lease at this term. */
  void holds(String group, String instance, long term) {
    Open now = open.get(group);
    if (now != null && now.instance.equals(instance)) {
      now.dispatcher.begin(term);
    }
  }

  /** How level a group is, as of a moment ago, or null if that is not known. */
  LevelFigures figures(String group) {
    LevelDispatcher dispatcher = byGroup.get(group);
    LevelFigures now = dispatcher == null ? null : dispatcher.figures();
    return now == null || now.term() == 0 ? null : now;
  }

  /** This node is not the dispatcher any more: abandons all groups at once. */
  void abandon() {
    core = null;
    open.clear();
    for (String group : List.copyOf(byGroup.keySet())) {
      LevelDispatcher dispatcher = byGroup.remove(group);
      if (dispatcher != null) {
        dispatcher.abandon();
      }
    }
  }

  /** Ends everything. */
  void end() {
    abandon();
    reports.unregister();
    directory.close();
  }
}
