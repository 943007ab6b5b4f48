package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.DataTables;
import dev.evenkeel.protocol.Commands;
import dev.evenkeel.protocol.DataCommand;
import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.MetaCommand;
import dev.evenkeel.protocol.Reply;
import dev.evenkeel.protocol.Shard;
import dev.evenkeel.protocol.StartAt;
import dev.evenkeel.protocol.TopicConfig;
import dev.evenkeel.protocol.wire.AppendBody;
import dev.evenkeel.protocol.wire.AppendResults;
import dev.evenkeel.protocol.wire.Batch;
import dev.evenkeel.protocol.wire.BatchBuilder;
import dev.evenkeel.protocol.wire.Entry;
import dev.evenkeel.protocol.wire.ReplyCodec;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Drives a state machine by hand: entries get the next index, the clock is a field. */
public final class Rig {
  public static final Shard SHARD = new Shard(1, 0);
  public static final Shard OTHER = new Shard(1, 1);

  public final MemoryStore.Disk disk = new MemoryStore.Disk();
  public final HeapBodies bodies = new HeapBodies();
  public final Path directory;
  public final List<byte[]> log = new ArrayList<>();

  /** Bodies of entries that are not in the entries themselves, by index. */
  private final Map<Integer, ByteBuffer> bodiesApart = new HashMap<>();

  public DataState data;
  public MetaState meta;
  public long now = 1_000_000;

  /** Term of the meta log's next entries. */
  public long metaTerm = 1;

  public Rig() {
    try {
      directory = Path.of("target", "rig", UUID.randomUUID().toString());
      Files.createDirectories(directory);
      data = States.data(directory.resolve("d0"), disk::open, bodies, 1 << 20);
      data.open();
      meta = States.meta(directory.resolve("meta"), disk::open);
      meta.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With shards 0 and 1 of topic 1. */
  public static Rig opened() {
    Rig rig = new Rig();
    rig.open(TopicConfig.DEFAULT);
    return rig;
  }

  public void open(TopicConfig config) {
    run(Commands.openShards(1, "orders", List.of(0, 1), config));
  }

  /** As after a restart of the node: all of memory is read back from the store. */
  public void reopen() {
    try {
      data.close();
      data = States.data(directory.resolve("d0"), disk::open, bodies, 1 << 20);
      data.open();
      meta.close();
      meta = States.meta(directory.resolve("meta"), disk::open);
      meta.open();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  public DataTables tables() {
    return data.tables();
  }

  /** The time of the log. */
  public long time() {
    return tables().timeAt(now).millis();
  }

  /** Time passes, and retention runs each minute, as on a leader. */
  public void pass(long millis) {
    for (long end = now + millis; now < end; ) {
      now = Math.min(end, now + 60_000);
      run(new DataCommand.Retain());
    }
  }

  public Reply run(DataCommand command) {
    return ReplyCodec.decode(entry(Entry.of(command, now)));
  }

  /**
   * Runs a command whose entry has a body.
   *
   * @param body null: it has none
   */
  public Reply run(DataCommand command, ByteBuffer body) {
    byte[] entry = Entry.of(command, now);
    if (body != null) {
      bodiesApart.put(log.size(), body);
    }
    log.add(entry);
    return ReplyCodec.decode(Entries.apply(data, 1, log.size() - 1, ByteBuffer.wrap(entry), body));
  }

  /** Applies the next entry that another has applied. */
  public void follow(Rig other) {
    int index = log.size();
    byte[] entry = other.log.get(index);
    log.add(entry);
    ByteBuffer body = other.bodiesApart.get(index);
    if (body == null) {
      Entries.apply(data, 1, index, ByteBuffer.wrap(entry));
    } else {
      Entries.apply(data, 1, index, ByteBuffer.wrap(entry), body);
    }
  }

  public Reply run(MetaCommand command) {
    long index = meta.appliedIndex() + 1;
    return ReplyCodec.decode(
        Entries.apply(meta, metaTerm, index, ByteBuffer.wrap(Entry.of(command, now))));
  }

  public ByteBuffer entry(byte[] entry) {
    log.add(entry);
    return Entries.apply(data, 1, log.size() - 1, ByteBuffer.wrap(entry));
  }

  public AppendResults append(AppendBody.Item... items) {
    return AppendResults.decode(entry(appendEntry(now, items)));
  }

  public static byte[] appendEntry(long now, AppendBody.Item... items) {
    return Entries.append(now, items);
  }

  public AppendResults.Result append(Shard shard, Batch batch) {
    return append(new AppendBody.Item(shard, batch)).results().get(0);
  }

  /** Appends one anonymous batch of {@code count} messages. */
  public long fill(Shard shard, int count) {
    return append(shard, batch(0, 0, 0, count, now)).value();
  }

  public static Batch batch(long producer, int epoch, long first, int count) {
    return batch(producer, epoch, first, count, 500);
  }

  public static Batch batch(long producer, int epoch, long first, int count, long timestamp) {
    BatchBuilder builder = new BatchBuilder(256);
    for (int i = 0; i < count; i++) {
      byte[] payload =
          (producer + "/" + epoch + "/" + (first + i)).getBytes(StandardCharsets.UTF_8);
      builder.add(new Message(null, null, timestamp + i, payload));
    }
    return builder.build(producer, epoch, first);
  }

  public Lease grant(String group, Shard shard, String owner, long expected) {
    return grant(group, shard, owner, expected, StartAt.EARLIEST);
  }

  public Lease grant(String group, Shard shard, String owner, long expected, StartAt start) {
    Reply reply = run(Commands.grant(group, shard, owner, owner + "-1", expected, start));
    return ((Reply.OfLease) reply).lease();
  }

  /** All of the store's rows, for comparing. */
  public byte[] dump() {
    return data.read(store -> ((MemoryStore) store).dump());
  }

  public List<byte[]> keys(Store.Table table) {
    return data.read(
        store -> {
          List<byte[]> keys = new ArrayList<>();
          byte[] last = new byte[64];
          Arrays.fill(last, (byte) 0xFF);
          try (Store.Cursor cursor = store.scan(table, new byte[0], last)) {
            while (cursor.next()) {
              keys.add(cursor.key());
            }
          }
          return keys;
        });
  }
}
