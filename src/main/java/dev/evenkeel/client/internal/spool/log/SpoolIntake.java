package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.internal.produce.core.BuilderPool;
import dev.evenkeel.client.internal.produce.core.ShardChoice;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.TopicInfo;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Messages that were accepted and are not on the disk yet. They are taken out as one frame: one or
 * more batches of each shard, with the sequences that they keep for ever.
 *
 * @param <T> what stands for one message towards whoever wants to hear of it
 */
public final class SpoolIntake<T> {
  /** Most bytes in memory, plus one message: 4 MiB. */
  public static final int BYTES_MAX = ProducerOptions.SPOOL_FLUSH_BYTES_MAX;

  /** A sender waits for the message with this place in its batch. */
  public record Token<T>(int place, T value) {}

  /**
   * What is written together.
   *
   * @param tokens of each batch of the frame
   */
  public record Chunk<T>(SpoolRecord.Frame frame, List<List<Token<T>>> tokens) {}

  /** The messages of one shard that were accepted last: a batch that is not closed yet. */
  private final class OpenBatch {
    final int shard;
    long nextSequence;
    BatchBuilder builder;
    long dueMillis;
    List<Token<T>> tokens = List.of();

    OpenBatch(int shard) {
      this.shard = shard;
    }
  }

  private final int batchBytes;
  private final ShardChoice choice;
  private final BuilderPool builders;
  private final List<OpenBatch> batches = new ArrayList<>();
  private final Set<OpenBatch> active = new LinkedHashSet<>();
  private List<SpoolRecord.Item> items = new ArrayList<>();
  private List<List<Token<T>>> tokens = new ArrayList<>();
  private SourcePosition position;
  private int messages;
  private long bytes;
  private long sinceMillis;

  /**
   * @param options of which the size and the compression of batches are used
   * @param random from 0 to 1
   */
  public SpoolIntake(
      ProducerOptions options, ShardChoice choice, TopicInfo.Layout shards, double random) {
    batchBytes = options.getBatchBytes();
    builders = new BuilderPool(options.getCompression());
    this.choice = choice;
    shards(shards, random);
  }

  /** Messages that come from now on are for these shards. */
  public void shards(TopicInfo.Layout shards, double random) {
    List.copyOf(active).forEach(this::seal);
    batches.clear();
    shards.numbers().mapToObj(number -> new OpenBatch(number)).forEach(batches::add);
    choice.restart(shards.shards(), random);
  }

  public boolean isEmpty() {
    return messages == 0 && position == null;
  }

  /** Whether something must be written before more is accepted. */
  public boolean isFull() {
    return bytes >= BYTES_MAX;
  }

  public int messages() {
    return messages;
  }

  public long bytes() {
    return bytes;
  }

  /** Whether it is to be written now by its amount or its age. */
  public boolean isDue(ProducerOptions options, long nowMillis) {
    return messages >= options.getSpoolFlushMessages()
        || bytes >= options.getSpoolFlushBytes()
        || !isEmpty() && nowMillis - sinceMillis >= options.getSpoolFlushMillis();
  }

  /**
   * Takes a message that is within its limits.
   *
   * @param dueMillis of {@code DueTime}
   * @param token null if no sender waits for it
   * @param nowMillis by any clock that only grows
   */
  public void add(Message message, long dueMillis, T token, long nowMillis) {
    OpenBatch batch = batches.get(choice.of(message, batches.size()));
    begin(nowMillis);
    if (batch.builder != null
        && (batch.dueMillis != dueMillis || !batch.builder.fits(message, batchBytes))) {
      seal(batch);
    }
    if (batch.builder == null) {
      batch.builder = builders.take();
      batch.dueMillis = dueMillis;
      active.add(batch);
    }
    if (token != null) {
      if (batch.tokens.isEmpty()) {
        batch.tokens = new ArrayList<>();
      }
      batch.tokens.add(new Token<>(batch.builder.count(), token));
    }
    int before = batch.builder.bytes();
    batch.builder.add(message);
    messages++;
    bytes += batch.builder.bytes() - before;
  }

  /** All messages of the source up to {@code read} have been added. */
  public void reached(SourcePosition read, long nowMillis) {
    begin(nowMillis);
    position = read;
  }

  private void begin(long nowMillis) {
    if (isEmpty()) {
      sinceMillis = nowMillis;
    }
  }

  private void seal(OpenBatch batch) {
    items.add(
        new SpoolRecord.Item(
            batch.shard, batch.builder.build(0, 0, batch.nextSequence), batch.dueMillis));
    tokens.add(batch.tokens);
    batch.nextSequence += batch.builder.count();
    batch.tokens = List.of();
    builders.giveBack(batch.builder);
    batch.builder = null;
    active.remove(batch);
    choice.closed(batch.shard - batches.get(0).shard, batches.size());
  }

  /** All that is held. */
  public Chunk<T> take(long frame, int run, long spooledMillis) {
    for (OpenBatch batch : List.copyOf(active)) {
      seal(batch);
    }
    Chunk<T> chunk =
        new Chunk<>(new SpoolRecord.Frame(frame, run, spooledMillis, position, items), tokens);
    items = new ArrayList<>();
    tokens = new ArrayList<>();
    position = null;
    messages = 0;
    bytes = 0;
    return chunk;
  }
}
