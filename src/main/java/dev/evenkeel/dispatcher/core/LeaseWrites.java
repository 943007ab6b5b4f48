package dev.evenkeel.dispatcher.core;

import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import java.util.HashMap;
import java.util.Map;

/** Requests to the log that move shards, and what their answers mean. */
final class LeaseWrites {
  private record Ref(Group group, Shard shard, Lease decidedOn) {}

  private final Groups groups;
  private final TopicView view;
  private final LeaseNews news;
  private final LeaseReads reads;
  private final MoveFigures figures;
  private final MissedMoves missed;
  private final DirtyGroups agenda;
  private final GroupLeases groupLeases;
  private final Outbox out;
  private final Map<Long, Ref> inFlight = new HashMap<>();

  LeaseWrites(
      Groups groups,
      TopicView view,
      LeaseNews news,
      LeaseReads reads,
      MoveFigures figures,
      MissedMoves missed,
      DirtyGroups agenda,
      GroupLeases groupLeases,
      Outbox out) {
    this.groups = groups;
    this.view = view;
    this.news = news;
    this.reads = reads;
    this.figures = figures;
    this.missed = missed;
    this.agenda = agenda;
    this.groupLeases = groupLeases;
    this.out = out;
  }

  /** Sends what the plans want now. */
  void pump(long nowMillis) {
    for (String name : agenda.takePumps(nowMillis)) {
      Group group = groups.get(name);
      if (group != null) {
        group.plan().pump(view.topics(), nowMillis, sink(group, nowMillis));
      }
    }
  }

  private GroupPlan.WriteSink sink(Group group, long nowMillis) {
    return new GroupPlan.WriteSink() {
      @Override
      public void write(Shard shard, DataCommand command) {
        LeaseWrites.this.write(group, shard, command);
      }

      @Override
      public void lead(Member elected) {
        groupLeases.elected(group.state(), elected, nowMillis);
      }
    };
  }

  private void write(Group group, Shard shard, DataCommand command) {
    long id = out.nextId();
    inFlight.put(id, new Ref(group, shard, group.state().book().get(shard)));
    out.add(new DispatcherAction.Write(id, shard, command));
  }

  void answered(long id, Reply reply, long nowMillis) {
    Ref ref = inFlight.remove(id);
    if (ref == null) {
      return;
    }
    if (reply instanceof Reply.OfLease of) {
      taken(ref, of.lease(), nowMillis);
    } else {
      if (reply instanceof Reply.Refused no
          && !no.refusal().retriable()
          && no.refusal() != Refusal.FENCED) {
        ref.group().plan().refused(ref.shard(), no);
      }
      failed(ref, reply instanceof Reply.Refused no ? no.refusal() : Refusal.INVALID, nowMillis);
    }
  }

  private void taken(Ref ref, Lease lease, long nowMillis) {
    KnownLeases book = ref.group().state().book();
    Lease before = book.get(ref.shard());
    Move move = ref.group().plan().taken(ref.shard(), lease, view.topics(), nowMillis);
    if (move != null) {
      // As it was when it was decided: a broker's hint of the grant may have come before the
      // answer.
      figures.granted(ref.shard(), move, ref.decidedOn());
    }
    if (book.answered(lease)) {
      news.changed(ref.group(), ref.shard(), before, nowMillis);
    }
  }

  private void failed(Ref ref, Refusal refusal, long nowMillis) {
    if (refusal == Refusal.FENCED) {
      ref.group().state().book().doubt(ref.shard());
    } else if (refusal == Refusal.UNKNOWN_SHARD) {
      view.read();
    }
    MissedMoves.Unsure grant = ref.group().plan().failed(ref.shard(), nowMillis);
    missed.failed(ref.group(), ref.shard(), grant, nowMillis);
    reads.read(ref.group().state().name());
  }
}
