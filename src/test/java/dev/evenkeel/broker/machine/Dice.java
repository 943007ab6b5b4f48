package dev.evenkeel.broker.machine;

import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Drain;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Makes operations out of numbers, so that a failing run can be shrunk and told by its numbers. */
final class Dice {
  private final Random random;

  Dice(long number) {
    random = new Random(number);
  }

  int upTo(int bound) {
    return random.nextInt(bound);
  }

  Shard shard() {
    return new Shard(1, upTo(10) == 0 ? 7 : upTo(2));
  }

  Batch batch() {
    long producer = upTo(4);
    return Rig.batch(producer, upTo(3), upTo(8), 1 + upTo(3), 400 + upTo(400));
  }

  List<AppendBody.Item> items() {
    List<AppendBody.Item> items = new ArrayList<>();
    for (int i = upTo(4); i >= 0; i--) {
      items.add(new AppendBody.Item(shard(), batch()));
    }
    return items;
  }

  DataCommand leaseCommand() {
    String group = upTo(2) == 0 ? "g" : "h";
    String member = upTo(2) == 0 ? "a" : "b";
    Shard shard = shard();
    long epoch = upTo(6);
    return switch (upTo(12)) {
      case 0, 1, 2, 3 ->
          Commands.grant(
              group, shard, member, member + "-1", epoch, start(), Math.max(0, upTo(6) - 2));
      case 4 -> new DataCommand.SetDrain(group, shard, epoch, drain(member));
      case 5, 6, 7, 8 -> Commands.commit(group, shard, epoch, upTo(30) - 1);
      case 9, 10 -> {
        boolean state = upTo(2) == 0;
        int offset = upTo(30);
        yield new DataCommand.Release(
            group, shard, epoch, offset, state ? offset : -1, state ? new byte[offset] : null);
      }
      default -> Commands.commit(group, shard, 1, upTo(10), upTo(10) - 1);
    };
  }

  /** A step of a shard. */
  DataCommand.Step step() {
    String group = upTo(2) == 0 ? "g" : "h";
    Shard shard = shard();
    long epoch = upTo(4);
    return switch (upTo(4)) {
      case 0 -> new DataCommand.SetDrain(group, shard, epoch, drain("b"));
      case 1 -> new DataCommand.ResetLease(group, shard, epoch, start());
      default -> Commands.grant(group, shard, "b", "b-2", epoch, start(), upTo(4));
    };
  }

  private Drain drain(String member) {
    Drain.Heir heir = upTo(2) == 0 ? null : new Drain.Heir(member + "-2", 7_000);
    return upTo(3) == 0 ? null : new Drain(member, upTo(99), heir);
  }

  private StartAt start() {
    return switch (upTo(4)) {
      case 0 -> StartAt.EARLIEST;
      case 1 -> StartAt.LATEST;
      case 2 -> StartAt.offset(upTo(20));
      default -> StartAt.timestamp(400 + upTo(500));
    };
  }

  /** Of which some are delayed, and some of those are due already. */
  private List<AppendBody.Item> delayedItems(long now) {
    List<AppendBody.Item> items = new ArrayList<>();
    for (AppendBody.Item item : items()) {
      long due = upTo(4) == 0 ? 0 : Math.max(1, now + upTo(300) - 20);
      items.add(new AppendBody.Item(item.shard(), item.batch(), due));
    }
    return items;
  }

  /** Any entry of a data group. */
  byte[] entry(long now) {
    return switch (upTo(13)) {
      case 10, 11 -> Rig.appendEntry(now, delayedItems(now).toArray(new AppendBody.Item[0]));
      case 12 -> Entry.of(new DataCommand.DeliverDue(1 + upTo(5), 1 + upTo(500)), now);
      case 0, 1, 2, 3 -> Rig.appendEntry(now, items().toArray(new AppendBody.Item[0]));
      case 4, 5, 6 -> Entry.of(leaseCommand(), now);
      case 7 -> Entry.of(new DataCommand.Retain(), now);
      case 8 -> Entry.of(new DataCommand.OpenProducer(1 + upTo(3), upTo(3)), now);
      default -> rare(now);
    };
  }

  private byte[] rare(long now) {
    TopicConfig config = new TopicConfig(upTo(100), upTo(2) * 200 - 1, upTo(2) * 500 - 1);
    return switch (upTo(9)) {
      case 3 -> Entry.of(new DataCommand.ReplayDeadLetters(null, shard(), List.of(1L)), now);
      case 6 -> Entry.of(new DataCommand.ResetLease("g", shard(), upTo(6), start()), now);
      case 7 -> Entry.of(new DataCommand.OpenPublisher(2, 1 + upTo(3), "g", shard(), true), now);
      case 8 ->
          Entry.of(
              new DataCommand.Commit("g", shard(), upTo(6), upTo(9), upTo(9), new byte[2]), now);
      case 0 -> Entry.of(Commands.forgetLeases("g"), now);
      case 1 -> Entry.of(Commands.openShards(2, "more", List.of(0, 3), config), now);
      case 2 -> Entry.of(new DataCommand.DropShards(2), now);
      default -> Entry.of(new DataCommand.ConfigureShards(1, config), now);
    };
  }
}
