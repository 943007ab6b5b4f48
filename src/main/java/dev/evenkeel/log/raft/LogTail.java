package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogStartException;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLogFormat;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.util.SizeInBytes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Cuts off what a crash left unfinished at the end of a log, before the engine opens it: an entry
 * of which only a part is on disk, or whose body is missing, and everything behind it. None of that
 * had been flushed, so nobody has been told of it.
 *
 * <p>So is an entry whose place the body of a later leader's entry has already taken: that leader
 * replaces it and all behind it, and the engine had not yet cut them off.
 *
 * <p>Any other entry that had been flushed and cannot be read is no such end: the disk is at fault,
 * and the node must not start, because it may have helped to commit the entry. Flushed is what a
 * mark of the last run says, and every file but the last: the engine begins one after a flush.
 */
final class LogTail {
  private static final Logger LOG = LoggerFactory.getLogger(LogTail.class);
  private static final int CRC_BYTES = 4;

  private final String group;
  private final Path current;
  private final long flushedIndex;
  private final long snapshotIndex;
  private final Bodies bodies;

  /** Tells which bodies are on disk. */
  interface Bodies {
    /** As {@link dev.evenkeel.log.EntryBodies#term}. */
    long term(long index) throws IOException;
  }

  /**
   * @param current the directory with the engine's log files
   * @param flushedIndex entries up to this one had been flushed and committed, maybe more; -1: not
   *     known of any
   * @param snapshotIndex the last entry of the newest snapshot, or -1. Up to it, bodies may have
   *     been deleted.
   */
  LogTail(String group, Path current, long flushedIndex, long snapshotIndex, Bodies bodies) {
    this.group = group;
    this.current = current;
    this.flushedIndex = flushedIndex;
    this.snapshotIndex = snapshotIndex;
    this.bodies = bodies;
  }

  /**
   * Cuts the log where its first entry is missing, if there is one.
   *
   * @return index of the last entry of the log or, if that is higher, of the snapshot; -1 if there
   *     is neither
   * @throws LogStartException if that entry, or one behind it, had been flushed
   */
  long cut() throws IOException, LogStartException {
    long last = -1;
    List<LogGroupFiles.Segment> files = withoutCovered();
    for (int i = 0; i < files.size(); i++) {
      Read read = new Read(files.get(i));
      read.run();
      last = read.last;
      if (!read.whole()) {
        boolean closed = i + 1 < files.size() || !files.get(i).open();
        refuseIfFlushed(read.last + 1, closed && !read.replaced);
        LOG.info(
            "log group {}: entry {} was not written to its end before the last stop, and is cut"
                + " off",
            group,
            read.last + 1);
        for (int behind = files.size() - 1; behind > i; behind--) {
          Files.delete(files.get(behind).file());
          DurableFiles.force(current);
        }
        read.cut();
        break;
      }
      if (files.get(i).open()) {
        // A process that was killed may have written it without a flush.
        DurableFiles.force(files.get(i).file());
      }
    }
    if (last < snapshotIndex) {
      // The state was ahead of this node's own log. The engine could not append to what is left.
      for (LogGroupFiles.Segment file : files) {
        Files.deleteIfExists(file.file());
        DurableFiles.force(current);
      }
      last = snapshotIndex;
    }
    refuseIfFlushed(last + 1, false);
    return last;
  }

  /**
   * Deletes files that the newest snapshot covers. The engine does so after each snapshot, but a
   * crash may come first: then bodies of their entries may be gone, or entries are missing between
   * them and the snapshot, and the engine would not open the log.
   */
  private List<LogGroupFiles.Segment> withoutCovered() throws IOException {
    List<LogGroupFiles.Segment> kept = new ArrayList<>();
    for (LogGroupFiles.Segment file : LogGroupFiles.segments(current)) {
      if (kept.isEmpty() && file.end() <= snapshotIndex) {
        Files.delete(file.file());
      } else {
        kept.add(file);
      }
    }
    return kept;
  }

  private void refuseIfFlushed(long missing, boolean closed) throws LogStartException {
    if (closed || missing <= flushedIndex) {
      throw new DamagedCopyException(
          group,
          String.format(
              "the log of group '%s' in %s lacks entry %s, which had been written to disk: files "
                  + "of the log are damaged, missing or cut off; restore the data directory from a "
                  + "backup, or replace this node",
              group, current, missing),
          null);
    }
  }

  /** One file, read up to its first entry that is missing. */
  private final class Read {
    private final LogGroupFiles.Segment segment;
    private long last;
    private long bytes = SegmentedRaftLogFormat.getHeaderLength();
    private boolean missing;
    private boolean replaced;

    Read(LogGroupFiles.Segment segment) {
      this.segment = segment;
      last = segment.start() - 1;
    }

    void run() throws IOException {
      if (Files.size(segment.file()) < bytes) {
        missing = true;
        return;
      }
      LogSegment.readSegmentFile(
          segment.file().toFile(),
          LogSegmentPath.matchLogSegment(segment.file()).getStartEnd(),
          SizeInBytes.valueOf(RaftSettings.ENTRY_BYTES_MAX),
          CorruptionPolicy.WARN_AND_RETURN,
          null,
          this::take);
    }

    private void take(LogEntryProto entry) {
      try {
        if (!missing && entry.getIndex() > snapshotIndex && LogBodies.hasBody(entry)) {
          long term = bodies.term(entry.getIndex());
          missing = term != entry.getTerm();
          replaced = term > entry.getTerm();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      if (!missing) {
        int size = entry.getSerializedSize();
        bytes += CodedOutputStream.computeUInt32SizeNoTag(size) + size + CRC_BYTES;
        last = entry.getIndex();
      }
    }

    boolean whole() throws IOException {
      return !missing && (segment.open() ? onlyPadding() : last == segment.end());
    }

    /** The engine writes zeros ahead of the entries. */
    private boolean onlyPadding() throws IOException {
      try (FileChannel in = FileChannel.open(segment.file(), StandardOpenOption.READ)) {
        ByteBuffer part = ByteBuffer.allocate(1 << 16);
        for (long at = bytes; in.read(part.clear(), at) > 0; at += part.limit()) {
          part.flip();
          while (part.hasRemaining()) {
            if (part.get() != SegmentedRaftLogFormat.getTerminator()) {
              return false;
            }
          }
        }
      }
      return true;
    }

    /** A file that had been closed is an open one afterwards, so that a crash here is none. */
    void cut() throws IOException {
      if (last < segment.start()) {
        Files.delete(segment.file());
        DurableFiles.force(current);
        return;
      }
      Path file = segment.file();
      if (!segment.open()) {
        file = current.resolve("log_inprogress_" + segment.start());
        DurableFiles.move(segment.file(), file);
      }
      try (FileChannel out = FileChannel.open(file, StandardOpenOption.WRITE)) {
        out.truncate(bytes);
        out.force(true);
      }
    }
  }
}
