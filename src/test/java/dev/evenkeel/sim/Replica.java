package dev.evenkeel.sim;

import dev.evenkeel.Unchecked;
import dev.evenkeel.broker.machine.DataState;
import dev.evenkeel.broker.machine.Entries;
import dev.evenkeel.broker.machine.HeapBodies;
import dev.evenkeel.broker.machine.States;
import dev.evenkeel.protocol.StateDigest;
import dev.evenkeel.storage.MemoryStore;
import dev.evenkeel.util.files.DurableFiles;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** The copy of a log group on one node: its log, and the production state machine behind it. */
final class Replica {
  private static final int TAIL_BYTES = 1 << 20;

  final int number;
  final SimNode node;

  /** What it has of the log, from the first entry of all. */
  final List<SimLog.Logged> log = new ArrayList<>();

  /** The highest index that it knows to be committed. */
  int committed = -1;

  /** It can hand out its log from here on; what is before is in its snapshot only. */
  int firstIndex;

  boolean down;
  private final MemoryStore.Disk disk = new MemoryStore.Disk();
  private final HeapBodies bodies;
  private final Path directory;
  private final Consumer<Replica> opened;
  private final Bug bug;

  /** Of the state behind each entry, as the first replica had it that applied the entry. */
  private final Map<Integer, Long> digests;

  private final int retriesMax;

  private DataState state;
  private int applied = -1;

  /**
   * @param bodies of the log's committed entries, which all replicas share
   * @param opened hears of each state that takes the place of the one before
   * @param digests of all replicas of the log group
   * @param retriesMax most messages of a group and shard that wait for another attempt
   */
  Replica(
      int number,
      SimNode node,
      HeapBodies bodies,
      Path directory,
      Consumer<Replica> opened,
      Bug bug,
      Map<Integer, Long> digests,
      int retriesMax) {
    this.retriesMax = retriesMax;
    this.number = number;
    this.node = node;
    this.bodies = bodies;
    this.directory = directory;
    this.opened = opened;
    this.bug = bug;
    this.digests = digests;
    open();
  }

  DataState state() {
    return state;
  }

  /** The index up to which entries are applied. */
  int applied() {
    return applied;
  }

  int last() {
    return log.size() - 1;
  }

  long lastTerm() {
    return log.isEmpty() ? 0 : log.get(last()).term();
  }

  private void open() {
    Unchecked.run(
        () -> {
          state =
              States.data(directory.resolve("state"), disk::open, bodies, TAIL_BYTES, retriesMax);
          state.open();
          opened.accept(this);
        });
  }

  /** Applies the entry after those that it has applied; returns the reply, or null if none. */
  ByteBuffer applyNext() {
    SimLog.Logged entry = log.get(++applied);
    if (entry.bytes() == null) {
      return null;
    }
    ByteBuffer skipped = bug.passesOver(number, entry.bytes());
    if (skipped != null) {
      return skipped;
    }
    ByteBuffer bytes = ByteBuffer.wrap(entry.bytes());
    ByteBuffer reply =
        entry.body() == null
            ? Entries.apply(state, entry.term(), applied, bytes)
            : Entries.apply(state, entry.term(), applied, bytes, entry.body().duplicate());
    StateDigest digest = state.digest();
    if (digest != null && state.appliedIndex() == applied) {
      long others = digests.computeIfAbsent(applied, first -> digest.sum());
      if (others != digest.sum()) {
        throw new SimulationFailure("the digests of replicas differ: " + this);
      }
    }
    return reply;
  }

  /**
   * The process begins again, with what was on disk.
   *
   * @param back of so many entries it does not know any more that it has applied them
   */
  void restart(int back) {
    Unchecked.run(() -> state.close());
    int before = applied;
    open();
    committed = before;
    applied = Math.max(firstIndex - 1, before - back);
    while (applied < before) {
      applyNext();
    }
  }

  /** Takes what it has of the log for applied. */
  void passOver() {
    applied = last();
  }

  /** It is no copy any more. */
  void end() {
    Unchecked.run(
        () -> {
          state.close();
          DurableFiles.deleteTree(directory);
        });
  }

  /** Keeps a snapshot, and none of the log that it stands for. */
  void compact() {
    Unchecked.run(
        () -> {
          DurableFiles.deleteTree(snapshot());
          state.snapshot(snapshot());
          firstIndex = applied + 1;
        });
  }

  /** Takes the snapshot of {@code other} in the place of its own state. */
  void install(Replica other) {
    Unchecked.run(
        () -> {
          log.clear();
          log.addAll(other.log.subList(0, other.firstIndex));
          applied = other.firstIndex - 1;
          committed = applied;
          firstIndex = applied + 1;
          state.restore(other.snapshot());
          compact();
        });
  }

  private Path snapshot() {
    return directory.resolve("snapshot");
  }

  boolean sameState(Replica other) {
    return store().sameAs(other.store());
  }

  private MemoryStore store() {
    return state.read(MemoryStore.class::cast);
  }

  @Override
  public String toString() {
    return "replica " + number + " (" + applied + " of " + last() + " applied)";
  }
}
