package dev.evenkeel.dispatcher.level.core;

import dev.evenkeel.bus.level.HandOut;
import dev.evenkeel.bus.level.MessageId;
import dev.evenkeel.bus.level.Report;
import dev.evenkeel.bus.level.SessionStart;
import dev.evenkeel.bus.level.SessionState;
import dev.evenkeel.bus.level.StartPermission;
import dev.evenkeel.protocol.Refusal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;

/** A member in mode level, by the words of the protocol, in virtual time. */
final class SimMember {
  static final long STALL_MILLIS = 3_000;

  private static final class Work {
    final MessageId id;
    long number;
    boolean started;
    boolean ended;
    String error;

    /** It was dropped while it ran: nobody is told of its end. */
    boolean dropped;

    Work(MessageId id, long number) {
      this.id = id;
      this.number = number;
    }
  }

  final LevelDispatchWorld world;

  /** From when on the dispatcher has heard of it. */
  long heardMillis;

  final String name;
  final String instance;
  final int parallel;
  final long handlerMillis;

  /** Messages finished since it joined. */
  long finished;

  long term;
  long session = -1;
  boolean alive = true;
  boolean closing;
  long stoppedUntil = -1;

  /** The term in which the world saw it take part. */
  long enteredTerm;

  private String dealerNode;
  private byte[] checkpoint;
  private final TreeMap<Long, Work> works = new TreeMap<>();
  private final Set<MessageId> ended = new LinkedHashSet<>();
  private long received;
  private long endedBelow;
  private long reportNumber;
  private boolean reporting;
  private boolean mute;
  private boolean changed;
  private long lastReportMillis;
  private long mayStartUntil;
  private int running;

  SimMember(
      LevelDispatchWorld world, String name, String instance, int parallel, long handlerMillis) {
    this.world = world;
    this.name = name;
    this.instance = instance;
    this.parallel = parallel;
    this.handlerMillis = handlerMillis;
  }

  boolean stopped() {
    return world.now < stoppedUntil;
  }

  /** Does {@code task} now, or when the process runs again. */
  void whenRunning(Runnable task) {
    if (!alive) {
      return;
    }
    if (stopped()) {
      world.at(stoppedUntil, () -> whenRunning(task));
    } else {
      task.run();
    }
  }

  Set<MessageId> holds() {
    Set<MessageId> ids = new HashSet<>();
    works.values().stream().filter(work -> !work.ended).forEach(work -> ids.add(work.id));
    return ids;
  }

  /** Place, or null for FENCED. */
  SessionState collect(SessionStart collect) {
    if (collect.term() < term || collect.term() == term && collect.session() <= session) {
      return null;
    }
    term = collect.term();
    session = collect.session();
    dealerNode = collect.node();
    reportNumber = 0;
    mute = false;
    reporting = false;
    List<Work> kept = new ArrayList<>();
    for (Work work : works.values()) {
      if (collect.keep() && !work.ended) {
        kept.add(work);
      } else {
        work.dropped = true;
      }
    }
    works.clear();
    if (!collect.keep()) {
      finished = 0;
      checkpoint = null;
    }
    List<MessageId> held = new ArrayList<>();
    for (Work work : kept) {
      work.number = held.size();
      works.put(work.number, work);
      held.add(work.id);
    }
    received = held.size();
    endedBelow = 0;
    mayStartUntil = world.now + collect.mayStartMillis();
    startMore();
    return new SessionState(checkpoint, finished, held, List.copyOf(ended), capacity());
  }

  private int capacity() {
    return 2 * parallel;
  }

  /** Messages received, or −1 for FENCED. */
  long deal(HandOut deal) {
    if (deal.term() != term || deal.session() != session) {
      return -1;
    }
    long end = deal.firstSequence() + deal.messages().size();
    if (deal.firstSequence() > received || end <= received) {
      return received;
    }
    if (deal.checkpoint() != null) {
      checkpoint = deal.checkpoint();
    }
    deal.committed().forEach((shard, below) -> ended.removeIf(id -> isBelow(id, shard, below)));
    for (long number = received; number < end; number++) {
      HandOut.Entry dealt = deal.messages().get((int) (number - deal.firstSequence()));
      works.put(number, new Work(dealt.id(), number));
      world.taken(this, dealt.id());
    }
    received = end;
    changed = true;
    startMore();
    return received;
  }

  private static boolean isBelow(MessageId id, dev.evenkeel.protocol.Shard shard, long below) {
    return id.shard().equals(shard) && id.offset() < below;
  }

  void startMore() {
    if (world.now >= mayStartUntil) {
      return;
    }
    for (Work work : works.values()) {
      if (running >= parallel) {
        return;
      }
      if (!work.started) {
        work.started = true;
        running++;
        world.started(this);
        long millis = world.handlerMillis(handlerMillis);
        world.at(world.now + millis, () -> whenRunning(() -> end(work)));
      }
    }
  }

  private void end(Work work) {
    running--;
    boolean failed = world.handlerFails();
    if (!failed) {
      world.handled(work.id);
      ended.add(work.id);
    }
    if (!work.dropped) {
      work.ended = true;
      work.error = failed ? "planned" : null;
      if (!failed) {
        finished++;
        world.finishedOne(this);
      }
      changed = true;
    }
    startMore();
    step();
  }

  /** Every few milliseconds: reports. */
  void step() {
    if (!alive || stopped() || session < 0) {
      return;
    }
    startMore();
    boolean due = changed || !holds().isEmpty() && world.now - lastReportMillis >= 1_000;
    if (reporting || mute || !due) {
      return;
    }
    while (works.containsKey(endedBelow) && works.get(endedBelow).ended) {
      endedBelow++;
    }
    List<Report.Failed> failed = new ArrayList<>();
    List<Long> above = new ArrayList<>();
    for (Work work : works.values()) {
      if (work.ended && work.number >= endedBelow) {
        above.add(work.number);
      }
      if (work.ended && work.error != null) {
        failed.add(new Report.Failed(work.number, work.error));
      }
    }
    Report report =
        new Report(
            world.group,
            instance,
            term,
            session,
            ++reportNumber,
            received,
            endedBelow,
            above.stream().mapToLong(each -> each).toArray(),
            failed,
            capacity());
    changed = false;
    reporting = true;
    long sent = world.now;
    lastReportMillis = sent;
    long ofSession = session;
    world.report(
        this,
        dealerNode,
        report,
        heard ->
            whenRunning(
                () -> {
                  if (session == ofSession) {
                    answered(report, heard, sent);
                  }
                }));
  }

  private void answered(Report report, LevelDispatch.Heard heard, long sent) {
    if (report.number() == reportNumber) {
      reporting = false;
    }
    if (heard == null || heard.refusal() == Refusal.UNAVAILABLE) {
      changed = true;
    } else if (heard.refusal() != null) {
      mute = true;
    } else {
      StartPermission permission = heard.permission();
      mayStartUntil = Math.max(mayStartUntil, sent + permission.mayStartMillis());
      for (Report.Failed each : report.failed()) {
        Work work = works.get(each.sequence());
        if (work != null) {
          work.error = null;
        }
      }
      works.values().removeIf(w -> w.ended && w.error == null && w.number < report.endedBelow());
      startMore();
    }
  }
}
