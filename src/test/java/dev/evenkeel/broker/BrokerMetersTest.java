package dev.evenkeel.broker;

import static dev.evenkeel.Loops.times;
import static dev.evenkeel.broker.Bench.get;
import static dev.evenkeel.broker.Bench.refused;
import static dev.evenkeel.broker.machine.Rig.batch;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.PrometheusText;
import dev.evenkeel.Wait;
import dev.evenkeel.bus.FetchAnswer;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.wire.Batch;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The figures of a broker are those of what was done. */
class BrokerMetersTest {
  @Closing private Bench bench;

  private PrometheusText text() throws Exception {
    get(Meters.of(bench.vertx).refresh());
    return PrometheusText.parse(bench.registry.scrape());
  }

  @Test
  void whatIsAppendedFetchedAndCommittedIsCounted() throws Exception {
    bench = Bench.one();
    Shard shard = new Shard(bench.create("orders", 2).id(), 0);
    Batch first = batch(7, 0, 0, 3);
    Batch second = batch(7, 0, 3, 2);
    get(bench.append(shard, first, second));
    // One is taken, the other is not: its sequence lies ahead.
    get(bench.append(shard, batch(7, 0, 5, 4), batch(7, 0, 99, 1)));
    bench.grant("g", shard, "a", 0);
    FetchAnswer answer = get(bench.fetch("g", shard, 1, 3, 0));
    assertThat(answer.batches()).hasSize(2);
    get(bench.fetch("g", shard, 1, 9, 1));
    bench.submit("n1", bench.groupOf(shard), Commands.commit("g", shard, 1, 9));
    assertThat(bench.submit("n1", bench.groupOf(shard), Commands.commit("g", shard, 9, 9)))
        .isNotNull();
    refused(Refusal.OFFSET_OUT_OF_RANGE, bench.fetch("g", shard, 1, 10, 0));

    // What has to be read is old for a while if reading takes long.
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_append_requests_total")).isEqualTo(2);
          assertThat(text.value("evenkeel_append_messages_total")).isEqualTo(9);
          assertThat(text.value("evenkeel_append_batches_total")).isEqualTo(3);
          assertThat(text.value("evenkeel_append_bytes_total"))
              .isEqualTo(first.length() + second.length() + batch(7, 0, 5, 4).length());
          assertThat(text.value("evenkeel_append_seconds_count")).isEqualTo(2);
          assertThat(text.value("evenkeel_append_entry_batches_sum")).isEqualTo(4);
          assertThat(text.value("evenkeel_fetch_requests_total")).isEqualTo(3);
          assertThat(text.value("evenkeel_fetch_messages_total")).isEqualTo(6);
          assertThat(text.value("evenkeel_fetch_empty_total")).isEqualTo(1);
          assertThat(text.value("evenkeel_fetch_seconds_count", "source", "memory")).isEqualTo(1);
          assertThat(text.value("evenkeel_command_seconds_count", "command", "commit"))
              .isEqualTo(2);
          assertThat(text.value("evenkeel_broker_refusals_total", "kind", "fenced")).isEqualTo(1);
          assertThat(text.value("evenkeel_broker_refusals_total", "kind", "sequence_gap"))
              .isEqualTo(1);
          assertThat(text.value("evenkeel_broker_refusals_total", "kind", "offset_out_of_range"))
              .isEqualTo(1);
          assertThat(text.value("evenkeel_topic_end_offset", "topic", "orders")).isEqualTo(9);
          assertThat(text.value("evenkeel_topic_shards", "topic", "orders")).isEqualTo(2);
          assertThat(text.value("evenkeel_tail_cache_bytes", "log", "d" + bench.groupOf(shard)))
              .as("16 bytes more for each of three batches")
              .isEqualTo(text.value("evenkeel_append_bytes_total") + 3 * 16);
        });
  }

  @Test
  void readsFromTheDiskAreTold() throws Exception {
    bench = new Bench(0, new JsonObject(), 1, "n1");
    Shard shard = new Shard(bench.create("orders", 1).id(), 0);
    get(bench.append(shard, batch(0, 0, 0, 3)));
    bench.grant("g", shard, "a", 0);
    get(bench.fetch("g", shard, 1, 0, 0));
    PrometheusText text = text();
    assertThat(text.value("evenkeel_fetch_seconds_count", "source", "disk")).isEqualTo(1);
    assertThat(text.value("evenkeel_fetch_messages_total")).isEqualTo(3);
  }

  @Test
  void queuesAreShownWhileTheyAreThere() throws Exception {
    bench = Bench.one();
    Shard shard = new Shard(bench.create("orders", 1).id(), 0);
    String log = "d" + bench.groupOf(shard);
    bench.grant("g", shard, "a", 0);
    Future<FetchAnswer> waiting = bench.fetch("g", shard, 1, 0, 15_000);
    bench.cluster.group(log).hold();
    Batch batch = batch(0, 0, 0, 1);
    times(5, i -> bench.append(shard, batch));
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_append_inflight_entries", "log", log)).isEqualTo(3);
          assertThat(text.value("evenkeel_append_waiting_requests", "log", log)).isEqualTo(2);
          assertThat(text.value("evenkeel_append_waiting_bytes", "log", log))
              .isEqualTo(5 * (512 + 8 + batch.length()));
          assertThat(text.value("evenkeel_fetch_waiting")).isEqualTo(1);
        });
    bench.cluster.group(log).release();
    get(waiting);
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_append_waiting_bytes", "log", log)).isZero();
          assertThat(text.value("evenkeel_fetch_waiting")).isZero();
          assertThat(text.value("evenkeel_append_messages_total")).isEqualTo(5);
        });
  }

  @Test
  void leadersAndFollowersAreShown() throws Exception {
    bench = new Bench(1 << 20, new JsonObject(), 1, "n1", "n2");
    Shard shard = new Shard(bench.create("orders", 1).id(), 0);
    get(bench.append(shard, batch(0, 0, 0, 1)));
    // Both brokers are on one Vert.x here: what has no label of its own is the first one's.
    Wait.untilAsserted(
        () -> {
          PrometheusText before = text();
          assertThat(before.value("evenkeel_log_leader", "log", "d0")).isEqualTo(1);
          assertThat(before.value("evenkeel_log_leader_known", "log", "d0")).isEqualTo(1);
          assertThat(before.value("evenkeel_log_leader_changes_total", "log", "d0")).isZero();
          assertThat(
                  before.value("evenkeel_log_follower_lag_entries", "log", "d0", "follower", "n2"))
              .isZero();
          assertThat(before.value("evenkeel_log_commit_index", "log", "d0")).isPositive();
        });
    bench.cluster.group("d0").lead("n2", true);
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_log_leader", "log", "d0")).isZero();
          assertThat(text.value("evenkeel_log_term", "log", "d0")).isEqualTo(2);
          assertThat(text.value("evenkeel_log_leader_changes_total", "log", "d0")).isEqualTo(1);
        });
  }

  @Test
  void theDiskIsShown() throws Exception {
    bench = Bench.one();
    bench.diskFree.set(12_345);
    bench.nodes.get("n1").checkDisk();
    Wait.untilAsserted(
        () -> {
          PrometheusText text = text();
          assertThat(text.value("evenkeel_disk_free_bytes")).isEqualTo(12_345);
          assertThat(text.value("evenkeel_disk_free_min_bytes")).isEqualTo(1_000);
          assertThat(text.value("evenkeel_store_disk_bytes")).isNotNegative();
          assertThat(text.value("evenkeel_bodies_disk_bytes")).isNotNegative();
          assertThat(text.value("evenkeel_bodies_freed_bytes_total", "log", "d0")).isZero();
          assertThat(text.value("evenkeel_bodies_live_bytes", "log", "d0")).isNaN();
          assertThat(text.value("evenkeel_metrics_age_seconds", "part", "broker")).isNotNegative();
        });
  }
}
