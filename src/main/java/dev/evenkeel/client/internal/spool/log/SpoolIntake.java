package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.SourcePosition;
import dev.evenkeel.client.internal.produce.core.BuilderPool;
import dev.evenkeel.client.internal.produce.core.ShardChoice;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.protocol.wire.BatchBuilder;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Messages that were accepted and are in memory only. What is taken out becomes one frame: a batch
 * or more of each shard, with the sequences that they keep for ever.
 *
 * @param <T> what stands for one message towards whoever wants to hear of it
 */
public final class SpoolIntake<T> {
  /** Held at most, but for one message more: 4 MiB. */
  public static final int BYTES_MAX = ProducerOptions.SPOOL_FLUSH_BYTES_MAX;

  /** Somebody waits for the message with this place in its batch. */
  public record Token<T>(int place, T value) {}

  /**
   * What is written together.
   *
   * @param tokens of each batch of the frame
   */
  public record Chunk<T>(SpoolRecord.Frame frame, List<List<Token<T>>> tokens) {}

  private final class Lane {
    final int shard;
    long nextSequence;
    BatchBuilder open;
    long openDueMillis;
    List<Token<T>> tokens = List.of();

    Lane(int shard) {
      this.shard = shard;
    }
  }

  private final int batchBytes;
  private final ShardChoice choice;
  private final BuilderPool builders = new BuilderPool();
  private final List<Lane> lanes = new ArrayList<>();
  private final Set<Lane> active = new LinkedHashSet<>();
  private List<SpoolRecord.Item> items = new ArrayList<>();
  private List<List<Token<T>>> tokens = new ArrayList<>();
  private SourcePosition position;
  private int messages;
  private long bytes;
  private long sinceMillis;

  /**
   * @param random from 0 to 1
   */
  public SpoolIntake(int batchBytes, ShardChoice choice, int shards, double random) {
    this.batchBytes = batchBytes;
    this.choice = choice;
    shards(shards);
    choice.restart(shards, random);
  }

  /** The topic has so many shards now, if it had not more before. */
  public void shards(int count) {
    while (lanes.size() < count) {
      lanes.add(new Lane(lanes.size()));
    }
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

  /** When the first of those that are held was accepted. */
  public long sinceMillis() {
    return sinceMillis;
  }

  /** Whether it is to be written now by its amount or its age. */
  public boolean isDue(SpoolSettings settings, long nowMillis) {
    return messages >= settings.flushMessages()
        || bytes >= settings.flushBytes()
        || !isEmpty() && nowMillis - sinceMillis >= settings.flushMillis();
  }

  /**
   * Takes a message that is within its limits.
   *
   * @param dueMillis of {@code DueTime}
   * @param token null if nobody wants to hear of it
   * @param nowMillis by any clock that only grows
   */
  public void add(Message message, long dueMillis, T token, long nowMillis) {
    Lane lane = lanes.get(choice.of(message, lanes.size()));
    begin(nowMillis);
    if (lane.open != null
        && (lane.openDueMillis != dueMillis || !lane.open.fits(message, batchBytes))) {
      seal(lane);
    }
    if (lane.open == null) {
      lane.open = builders.take();
      lane.openDueMillis = dueMillis;
      active.add(lane);
    }
    if (token != null) {
      if (lane.tokens.isEmpty()) {
        lane.tokens = new ArrayList<>();
      }
      lane.tokens.add(new Token<>(lane.open.count(), token));
    }
    int before = lane.open.bytes();
    lane.open.add(message);
    messages++;
    bytes += lane.open.bytes() - before;
  }

  /** All messages of a source up to here have been added. */
  public void reached(SourcePosition read, long nowMillis) {
    begin(nowMillis);
    position = read;
  }

  private void begin(long nowMillis) {
    if (isEmpty()) {
      sinceMillis = nowMillis;
    }
  }

  private void seal(Lane lane) {
    items.add(
        new SpoolRecord.Item(
            lane.shard, lane.open.build(0, 0, lane.nextSequence), lane.openDueMillis));
    tokens.add(lane.tokens);
    lane.nextSequence += lane.open.count();
    lane.tokens = List.of();
    builders.giveBack(lane.open);
    lane.open = null;
    active.remove(lane);
    choice.closed(lane.shard, lanes.size());
  }

  /** All that is held. */
  public Chunk<T> take(long frame, int run, long spooledMillis) {
    for (Lane lane : List.copyOf(active)) {
      seal(lane);
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
