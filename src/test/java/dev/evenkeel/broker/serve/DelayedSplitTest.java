package dev.evenkeel.broker.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.broker.state.BatchPlace;
import dev.evenkeel.broker.state.DelayedBatch;
import dev.evenkeel.protocol.Compression;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.BatchPacker;
import dev.evenkeel.protocol.wire.BatchReader;
import dev.evenkeel.protocol.wire.Bytes;
import dev.evenkeel.protocol.wire.DelayedOrigin;
import dev.evenkeel.protocol.wire.Murmur2;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class DelayedSplitTest {
  private static TopicInfo topic(int before, int between, int after) {
    return new TopicInfo(9, "t", before, TopicConfig.DEFAULT, TopicInfo.State.ACTIVE, 5)
        .opening(between, List.of())
        .opened(6)
        .opening(after, List.of())
        .opened(7);
  }

  private static List<DelayedSplit.Delayed> batches(Random random) {
    List<DelayedSplit.Delayed> batches = new ArrayList<>();
    int number = 0;
    for (int i = 0; i < 5; i++) {
      BatchBuilder builder = new BatchBuilder(100);
      for (int j = 1 + random.nextInt(9); j > 0; j--) {
        byte[] key = random.nextInt(4) == 0 ? null : new byte[] {(byte) random.nextInt(20)};
        byte[] payload = ByteBuffer.allocate(4).putInt(number++).array();
        builder.add(new Message(key, Map.of(), 0, payload));
      }
      batches.add(delayed(100 + i, 1_000 + i, builder.build(3, 0, 0)));
    }
    return batches;
  }

  private static DelayedSplit.Delayed delayed(long ordinal, long due, Batch batch) {
    BatchPlace place = new BatchPlace(1, 0, batch.crc());
    return new DelayedSplit.Delayed(
        ordinal,
        due,
        new DelayedOrigin.Place(0, ordinal),
        new DelayedBatch(batch, place, null),
        batch);
  }

  private static int number(Message message) {
    return ByteBuffer.wrap(message.payload()).getInt();
  }

  @Property(tries = 200)
  void eachMessageGoesOnOnceWhereItsKeyBelongs(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 6) int between,
      @ForAll @IntRange(min = 1, max = 6) int after) {
    TopicInfo topic = topic(4, between, after);
    List<DelayedSplit.Delayed> batches = batches(new Random(seed));
    // A former leader sent three of the batches to the shards in between, before these were sealed.
    Map<Shard, Long> taken = new HashMap<>();
    List<Integer> there = new ArrayList<>();
    TopicInfo then =
        new TopicInfo(
            9, "t", topic.layouts().subList(0, 2), null, topic.config(), topic.state(), 5);
    for (AppendBody.Item item :
        new DelayedSplit(then, 8, 1, Map.of(), true).of(batches.subList(0, 3))) {
      assertThat(taken.getOrDefault(item.shard(), -1L)).isLessThan(item.batch().firstSequence());
      taken.put(item.shard(), item.batch().firstSequence() + item.batch().count() - 1);
      read(item).forEach(message -> there.add(number(message)));
    }
    for (AppendBody.Item item : new DelayedSplit(topic, 8, 2, taken, true).of(batches)) {
      assertThat(topic.open().has(item.shard().shard())).isTrue();
      for (Message message : read(item)) {
        there.add(number(message));
        if (message.key() != null) {
          assertThat(item.shard().shard())
              .isEqualTo(topic.open().first() + Murmur2.shard(message.key(), after));
        }
      }
    }
    int all = batches.stream().mapToInt(each -> each.batch().count()).sum();
    assertThat(there).hasSize(all).doesNotHaveDuplicates();
  }

  /**
   * A request takes so many batches and bytes, and a batch only so many bytes, also when few
   * compressed bytes become many.
   */
  @Test
  void whatIsDividedFitsIntoRequests() {
    TopicInfo topic = topic(4, 3, 200);
    List<DelayedSplit.Delayed> batches = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      BatchBuilder builder =
          new BatchBuilder(100, BatchPacker.of(i % 2 == 0 ? Compression.ZSTD : Compression.NONE));
      byte[] payload = new byte[i == 4 ? Limits.PAYLOAD_BYTES_MAX / 100 : 100];
      for (int j = 0; j < 100; j++) {
        builder.add(new Message(new byte[] {(byte) i, (byte) j}, Map.of(), 0, payload));
      }
      batches.add(delayed(100 + i, 1_000, builder.build(3, 0, 0)));
    }
    List<AppendBody.Item> items = new DelayedSplit(topic, 8, 1, Map.of(), true).of(batches);
    assertThat(items).hasSizeGreaterThan(AppendBody.BATCHES_MAX / 2);
    List<AppendBody.Item> doubled = new ArrayList<>(items);
    doubled.addAll(items);
    List<List<AppendBody.Item>> requests = AppendBody.requests(doubled);
    assertThat(requests.stream().flatMap(List::stream).toList()).isEqualTo(doubled);
    for (List<AppendBody.Item> request : requests) {
      Bytes body = new Bytes();
      request.forEach(item -> AppendBody.write(body, item));
      assertThat(body.size()).isLessThan(2 * AppendBody.REQUEST_BYTES_MAX);
      assertThat(AppendBody.read(body.view())).hasSameSizeAs(request);
    }
  }

  private static List<Message> read(AppendBody.Item item) {
    List<Message> messages = new ArrayList<>();
    for (BatchReader reader = item.batch().reader(0); reader.hasNext(); ) {
      messages.add(reader.next());
    }
    return messages;
  }
}
