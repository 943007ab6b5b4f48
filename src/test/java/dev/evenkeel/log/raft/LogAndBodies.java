package dev.evenkeel.log.raft;

import dev.evenkeel.broker.machine.SegmentBodies;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineEntryProto;
import org.apache.ratis.proto.RaftProtos.StateMachineLogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLogOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;

/** The files of a log and of its bodies, written by the engine's own code without the engine. */
final class LogAndBodies implements AutoCloseable {
  private static final int SEGMENT_BYTES = 1 << 20;
  private static final long FILE_BYTES = 1 << 20;
  private static final long PREALLOCATED = 4 << 10;

  /**
   * An entry and where it is.
   *
   * @param body null if it has none
   * @param head where its head is in the file of the log
   * @param record where its body is in the file of bodies, with the header; null without one
   */
  record Entry(long term, long index, byte[] body, Piece head, Piece record) {}

  /** Bytes of a file, from the first to behind the last. */
  record Piece(Path file, long from, long to) {}

  final Path directory;
  final TreeMap<Long, Entry> entries = new TreeMap<>();
  private final EntryBodies bodies;

  /** Opens the files in a directory, as they are. */
  LogAndBodies(Path directory) {
    this.directory = directory;
    bodies = new SegmentBodies(directory.resolve("bodies"), SEGMENT_BYTES);
  }

  Path current() {
    return directory.resolve("current");
  }

  /** What a node does before it opens the log; returns the last entry. */
  long start(long flushedIndex, long snapshotIndex) throws IOException, LogStartException {
    bodies.open(flushedIndex);
    long last = new LogTail("d0", current(), flushedIndex, snapshotIndex, bodies::term).cut();
    bodies.cutAfter(last);
    return last;
  }

  EntryBodies bodies() {
    return bodies;
  }

  /** Appends entries in a file of the log of its own; a closed one gets its final name. */
  void append(long term, long from, long to, boolean closed, Random random) throws IOException {
    Files.createDirectories(current());
    Path file = current().resolve("log_inprogress_" + from);
    ByteBuffer buffer = ByteBuffer.allocateDirect(64 << 10);
    try (SegmentedRaftLogOutputStream out =
        new SegmentedRaftLogOutputStream(file.toFile(), false, FILE_BYTES, PREALLOCATED, buffer)) {
      long at = 8;
      for (long index = from; index <= to; index++) {
        byte[] body = random.nextInt(4) == 0 ? null : new byte[1 + random.nextInt(40)];
        LogEntryProto head = head(term, index, body == null ? 0 : body.length);
        Piece record = null;
        if (body != null) {
          random.nextBytes(body);
          record = write(term, index, body);
        }
        out.write(head);
        int size = head.getSerializedSize();
        long end = at + size + (size < 128 ? 1 : 2) + 4;
        entries.put(index, new Entry(term, index, body, new Piece(file, at, end), record));
        at = end;
      }
      out.flush();
    }
    if (closed) {
      Files.move(file, current().resolve("log_" + from + "-" + to));
    }
    bodies.force();
  }

  private Piece write(long term, long index, byte[] body) throws IOException {
    Path file = null;
    long from = 0;
    List<Path> before = segmentFiles();
    if (!before.isEmpty()) {
      file = before.get(before.size() - 1);
      from = Files.size(file);
    }
    bodies.append(List.of(new EntryBodies.Body(term, index, List.of(ByteBuffer.wrap(body)))));
    List<Path> after = segmentFiles();
    if (after.size() > before.size()) {
      file = after.get(after.size() - 1);
      from = 0;
    }
    return new Piece(file, from, Files.size(file));
  }

  List<Path> segmentFiles() throws IOException {
    return DurableFiles.list(directory.resolve("bodies")).stream()
        .filter(file -> file.toString().endsWith(".seg"))
        .toList();
  }

  /** As the log keeps it: without the body, but with the size of both. */
  private static LogEntryProto head(long term, long index, int body) {
    StateMachineLogEntryProto.Builder entry =
        StateMachineLogEntryProto.newBuilder()
            .setLogData(ByteString.copyFromUtf8("head of " + term + ":" + index));
    if (body > 0) {
      entry.setStateMachineEntry(
          StateMachineEntryProto.newBuilder().setLogEntryProtoSerializedSize(body + 100));
    }
    return LogEntryProto.newBuilder()
        .setTerm(term)
        .setIndex(index)
        .setStateMachineLogEntry(entry)
        .build();
  }

  /** The entries that the engine would find, without any tolerance. */
  List<LogEntryProto> log() throws IOException {
    List<LogEntryProto> found = new ArrayList<>();
    for (LogGroupFiles.Segment segment : LogGroupFiles.segments(current())) {
      File file = segment.file().toFile();
      LogSegment.readSegmentFile(
          file,
          LogSegmentPath.matchLogSegment(segment.file()).getStartEnd(),
          SizeInBytes.valueOf(RaftSettings.ENTRY_BYTES_MAX),
          CorruptionPolicy.EXCEPTION,
          null,
          found::add);
    }
    return found;
  }

  /** The same files in another directory, closed. */
  LogAndBodies copyTo(Path target) throws IOException {
    DurableFiles.deleteTree(target);
    for (String name : List.of("current", "bodies")) {
      Files.createDirectories(target.resolve(name));
      for (Path file : DurableFiles.list(directory.resolve(name))) {
        Files.copy(file, target.resolve(name).resolve(file.getFileName()));
      }
    }
    LogAndBodies copy = new LogAndBodies(target);
    for (Entry entry : entries.values()) {
      copy.entries.put(
          entry.index(),
          new Entry(
              entry.term(),
              entry.index(),
              entry.body(),
              entry.head() == null ? null : moved(entry.head(), target),
              entry.record() == null ? null : moved(entry.record(), target)));
    }
    return copy;
  }

  private Piece moved(Piece piece, Path target) {
    return new Piece(target.resolve(directory.relativize(piece.file())), piece.from(), piece.to());
  }

  @Override
  public void close() throws IOException {
    bodies.close();
  }
}
