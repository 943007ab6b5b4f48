package dev.evenkeel.dispatcher;

import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Frames;
import dev.evenkeel.bus.LeaseChange;
import dev.evenkeel.bus.Op;
import dev.evenkeel.bus.ShardStatus;
import dev.evenkeel.bus.Views;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.CommandCodec;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.protocol.wire.ReplyCodec;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.eventbus.Message;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A broker that leads both of two data groups, over a {@link ModelLog}. */
final class FakeBroker {
  private static final int DATA_GROUPS = 2;

  final ModelLog log;

  /** What it says all nodes read. */
  volatile int featureLevel;

  private final Vertx vertx;
  private volatile boolean mute;

  /** How many steps came together, for each command of many. */
  final List<Integer> joined = new CopyOnWriteArrayList<>();

  /** How often shards were read, in all data groups together. */
  final AtomicInteger reads = new AtomicInteger();

  /** Whether it is of a version that does not know commands of many steps. */
  volatile boolean former;

  public FakeBroker(Vertx vertx, ModelLog log) {
    this.vertx = vertx;
    this.log = log;
    vertx.eventBus().<Buffer>consumer(Addresses.VIEW, this::view);
    vertx.eventBus().<Buffer>consumer(Addresses.control("n1"), this::control);
  }

  /** From now on it refuses to read shards, or does so again. */
  void mute(boolean on) {
    mute = on;
  }

  private void view(Message<Buffer> message) {
    synchronized (log) {
      message.reply(
          Views.of("n1", "n1", List.of("n1", "n1"), List.of("n1"), List.copyOf(log.topics))
              .toJson()
              .put("featureLevel", featureLevel)
              .toBuffer());
    }
  }

  private void control(Message<Buffer> message) {
    Op op = Frames.op(message.body());
    ByteReader in = new ByteReader(Frames.body(message.body()));
    synchronized (log) {
      message.reply(
          switch (op) {
            case SUBMIT_DATA -> {
              in.i32();
              yield submit(CommandCodec.data(in));
            }
            case SUBMIT_META ->
                answer(log.apply(CommandCodec.meta(in), System.currentTimeMillis()));
            case READ_GROUPS -> {
              Bytes out = new Bytes().i32(log.groups.size());
              log.groups().forEach(group -> RecordCodec.GROUP.write(out, group));
              yield Frames.answer(out.view());
            }
            case READ_GROUP_LEASES -> {
              Bytes out = new Bytes().i32(log.groupLeases.size());
              log.groupLeases.values().forEach(lease -> RecordCodec.GROUP_LEASE.write(out, lease));
              yield Frames.answer(out.view());
            }
            case READ_MOVES -> {
              Bytes out = new Bytes();
              RecordCodec.MOVES.write(out, List.copyOf(log.moves.values()));
              yield Frames.answer(out.view());
            }
            case READ_SHARDS -> {
              int dataGroup = in.i32();
              String group = in.text();
              reads.incrementAndGet();
              if (mute) {
                yield Frames.refusal(Refusal.UNAVAILABLE, "no leader");
              }
              List<ShardStatus> statuses = log.statuses(group);
              statuses.removeIf(status -> status.shard().dataGroup(DATA_GROUPS) != dataGroup);
              Bytes out = new Bytes();
              ShardStatus.LIST.write(out, statuses);
              yield Frames.answer(out.view());
            }
            default -> Frames.refusal(Refusal.INVALID, "not expected: " + op);
          });
    }
  }

  /** Applies a command as a member's request or the dispatcher's would be. */
  Buffer submit(DataCommand command) {
    if (command instanceof DataCommand.TakeSteps take) {
      if (former) {
        return Frames.refusal(Refusal.WRONG_VERSION, "unknown command 43");
      }
      joined.add(take.steps().size());
    }
    synchronized (log) {
      Reply reply = log.apply(command);
      announce(reply);
      return answer(reply);
    }
  }

  private void announce(Reply reply) {
    if (reply instanceof Reply.OfLease of) {
      vertx
          .eventBus()
          .publish(Addresses.LEASE_CHANGES, LeaseChange.of(of.lease()).toJson().toBuffer());
    } else if (reply instanceof Reply.OfSteps of) {
      of.replies().forEach(this::announce);
    }
  }

  private static Buffer answer(Reply reply) {
    return Frames.answer(ReplyCodec.encode(reply));
  }
}
