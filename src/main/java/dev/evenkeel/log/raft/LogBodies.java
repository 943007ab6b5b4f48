package dev.evenkeel.log.raft;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.EntryBody;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * Takes the bodies of entries from the engine to {@link EntryBodies}, and back for followers and
 * for applying. The engine calls {@link #write} and {@link #truncate} in the order of its log.
 */
final class LogBodies implements StateMachine.DataApi, AutoCloseable {
  private final EntryBodies files;
  private final BodyWriter writer;
  private final RecentBodies recent;

  /** The body of an entry is missing or damaged. Whoever keeps the bodies mends it. */
  static final class DamagedBodyException extends IOException {
    private static final long serialVersionUID = 1L;

    DamagedBodyException(String message) {
      super(message);
    }
  }

  /**
   * @param files opened
   * @param failed hears why no more bodies can be written
   */
  LogBodies(String group, EntryBodies files, LogMemory memory, Consumer<Throwable> failed) {
    this.files = files;
    recent = new RecentBodies(memory::bodies, memory::appliedBodies);
    writer = new BodyWriter(group, files, failed);
  }

  /** Whether an entry has a body, as it came or as the log keeps it. */
  static boolean hasBody(LogEntryProto entry) {
    return entry.hasStateMachineLogEntry()
        && entry.getStateMachineLogEntry().hasStateMachineEntry();
  }

  @Override
  public CompletableFuture<?> write(LogEntryProto entry, TransactionContext transaction) {
    ByteString body = entry.getStateMachineLogEntry().getStateMachineEntry().getStateMachineData();
    CompletableFuture<Void> written = new CompletableFuture<>();
    recent.put(entry.getIndex(), new RecentBodies.Recent(entry.getTerm(), body, written));
    writer.write(
        new EntryBodies.Body(entry.getTerm(), entry.getIndex(), body.asReadOnlyByteBufferList()),
        written);
    return written.thenRun(recent::trim);
  }

  /** The engine flushes its own file meanwhile, and waits for both. */
  @Override
  public CompletableFuture<Void> flush(long index) {
    return writer.force();
  }

  /**
   * Nothing happens on disk: the body of the entry that takes the first place replaces those above,
   * and at a start the log decides by term and index which bodies are its own.
   *
   * @param index the first entry that is removed
   */
  @Override
  public CompletableFuture<Void> truncate(long index) {
    recent.dropFrom(index);
    return CompletableFuture.completedFuture(null);
  }

  /**
   * Reads a body for a follower. It throws at once if it cannot: the engine takes that for an entry
   * that cannot be read, and a future that fails for a log that cannot be written.
   */
  @Override
  public CompletableFuture<ByteString> read(LogEntryProto entry, TransactionContext transaction) {
    long index = entry.getIndex();
    RecentBodies.Recent held = recent.get(entry.getTerm(), index);
    if (held != null) {
      return CompletableFuture.completedFuture(held.body());
    }
    try {
      // Read even if it does not seem to be there, so that the damage is noticed.
      ByteBuffer body = files.read(index);
      if (body == null || !files.holds(entry.getTerm(), index)) {
        throw new DamagedBodyException("the body of entry " + index + " is missing or damaged");
      }
      return CompletableFuture.completedFuture(UnsafeByteOperations.unsafeWrap(body));
    } catch (IOException e) {
      throw new UncheckedIOException(e.getMessage(), e);
    }
  }

  /** The body of an entry for applying it. Waits until it can be read from its file, too. */
  EntryBody toApply(LogEntryProto entry) {
    RecentBodies.Recent held =
        hasBody(entry) ? recent.get(entry.getTerm(), entry.getIndex()) : null;
    if (held == null) {
      return EntryBody.NONE;
    }
    // A majority of others may have written it before this node.
    held.written().join();
    return new EntryBody(held.body().asReadOnlyByteBufferList());
  }

  /** All entries up to this one are applied, or covered by a snapshot. */
  void applied(long index) {
    recent.applied(index);
  }

  /** Closes the files, too. */
  @Override
  public void close() throws IOException {
    writer.close();
    files.close();
  }
}
