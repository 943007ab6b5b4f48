package dev.evenkeel.broker.serve;

import static dev.evenkeel.protocol.Refusal.UNAVAILABLE;

import dev.evenkeel.broker.quota.GroupDebts;
import dev.evenkeel.broker.quota.QuotaGate;
import dev.evenkeel.broker.quota.QuotaMeters;
import dev.evenkeel.broker.quota.QuotaPort;
import dev.evenkeel.broker.state.MetaTables;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.Calls;
import dev.evenkeel.bus.VertxLink;
import dev.evenkeel.bus.rate.LocalQuotas;
import dev.evenkeel.bus.rate.Reservation;
import dev.evenkeel.bus.rate.ReserveRequest;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** The quotas that this node keeps: those of appends, and those of the fetches of groups. */
final class NodeQuotas implements QuotaPort, LocalQuotas {
  /** Longer than the coordinator takes, and short enough to go on without it. */
  private static final long ANSWER_MILLIS_MAX = 500;

  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Every request passes its quotas in this order, so that none overtakes another. */
  private static final Comparator<Quota.Key> ORDER =
      Comparator.comparing(Quota.Key::kind).thenComparing(Quota.Key::name);

  private static final class Amount {
    long bytes;
    long messages;
  }

  private final ServeContext serve;
  private final QuotaGate gate;
  private final QuotaMeters meters;

  NodeQuotas(ServeContext serve, QuotaMeters meters) {
    this.serve = serve;
    this.meters = meters;
    gate = new QuotaGate(this, meters, serve.appendBytesMax(1));
  }

  /**
   * @param onPaid looks again at the fetches that wait for a shard
   */
  GroupDebts debts(Consumer<Shard> onPaid) {
    return new GroupDebts(this, meters, onPaid);
  }

  /**
   * Waits until these batches may be appended, as far as their topics and producers are concerned.
   * On the context.
   *
   * @return null: at once; fails with OVERLOADED if it takes too long
   */
  Future<Void> turn(List<AppendBody.Item> items) {
    MetaTables tables = serve.node().meta().tables();
    if (!tables.hasQuotas()) {
      return null;
    }
    Map<Quota.Key, Amount> amounts = new TreeMap<>(ORDER);
    for (AppendBody.Item item : items) {
      TopicInfo topic = tables.topic(item.shard().topicId());
      if (topic != null) {
        add(amounts, QuotaKind.TOPIC, topic.name(), item);
      }
      long producer = item.batch().producerId();
      String name = producer == 0 ? null : tables.producerName(producer);
      if (name != null) {
        add(amounts, QuotaKind.PRODUCER, name, item);
      }
    }
    return amounts.isEmpty() ? null : pass(List.copyOf(amounts.entrySet()), 0, sender(items));
  }

  /** All requests of a producer are of one sender. */
  private static Object sender(List<AppendBody.Item> items) {
    return items.get(0).batch().producerId();
  }

  private Future<Void> pass(List<Map.Entry<Quota.Key, Amount>> all, int from, Object sender) {
    Quota.Key key = all.get(from).getKey();
    Amount amount = all.get(from).getValue();
    Future<Void> passed = gate.pass(key, sender, amount.bytes, amount.messages);
    return from == all.size() - 1
        ? passed
        : passed.compose(
            none ->
                pass(all, from + 1, sender)
                    .onFailure(no -> gate.giveBack(key, sender, amount.bytes, amount.messages)));
  }

  private void add(
      Map<Quota.Key, Amount> amounts, QuotaKind kind, String name, AppendBody.Item item) {
    Quota.Key key = new Quota.Key(kind, name);
    if (gate.holds(key)) {
      Amount amount = amounts.computeIfAbsent(key, any -> new Amount());
      amount.bytes += item.batch().length();
      amount.messages += item.batch().count();
    }
  }

  // ---- For programs on other threads

  @Override
  public Future<Void> pass(Quota.Key key, Object sender, long bytes, long messages) {
    Promise<Void> passed = Promise.promise();
    serve.run(() -> gate.pass(key, sender, bytes, messages).onComplete(passed));
    return passed.future();
  }

  @Override
  public void giveBack(Quota.Key key, Object sender, long bytes, long messages) {
    serve.run(() -> gate.giveBack(key, sender, bytes, messages));
  }

  // ---- For the parts

  @Override
  public Quota quota(QuotaKind kind, String name) {
    return serve.node().meta().tables().quota(kind, name);
  }

  @Override
  public Future<Reservation> reserve(ReserveRequest request) {
    String leader = serve.node().log().meta().leadership().leader();
    if (leader == null) {
      return Future.failedFuture(UNAVAILABLE.error("no node leads the meta log group"));
    }
    return VertxLink.send(
            serve.vertx(),
            Addresses.control(leader),
            Calls.RESERVE.request(request),
            ANSWER_MILLIS_MAX)
        .map(Calls.RESERVE::answered);
  }

  @Override
  public long nanos() {
    return System.nanoTime();
  }

  @Override
  public void after(long nanos, Runnable task) {
    long millis = Math.max(1, (nanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
    serve.vertx().setTimer(millis, id -> task.run());
  }
}
