package dev.evenkeel.log.raft;

import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.util.SizeInBytes;

/** Compares the closed files of a log with their checksums while the engine runs. */
final class LogFilesCheck {
  private LogFilesCheck() {}

  /**
   * The first damage, as a line for people; null if there is none.
   *
   * @param current the directory with the engine's log files
   */
  static String damage(Path current, ByteRate rate) throws IOException {
    for (LogGroupFiles.Segment file : LogGroupFiles.segments(current)) {
      String damage = file.open() ? null : damage(file, rate);
      // The engine deletes files that a snapshot covers, and cuts off what a new leader lacks.
      if (damage != null && Files.exists(file.file())) {
        return file.file() + " is damaged: " + damage;
      }
    }
    return null;
  }

  private static String damage(LogGroupFiles.Segment file, ByteRate rate) throws IOException {
    try {
      rate.take(Files.size(file.file()));
    } catch (NoSuchFileException e) {
      return null;
    }
    long[] last = {file.start() - 1};
    try {
      LogSegment.readSegmentFile(
          file.file().toFile(),
          LogSegmentPath.matchLogSegment(file.file()).getStartEnd(),
          SizeInBytes.valueOf(RaftSettings.ENTRY_BYTES_MAX),
          CorruptionPolicy.EXCEPTION,
          null,
          entry -> last[0] = entry.getIndex());
    } catch (IOException | RuntimeException e) {
      String reason = Refusals.reason(e);
      return reason.contains("Too many open files") ? null : reason;
    }
    return last[0] == file.end() ? null : "entry " + (last[0] + 1) + " is missing";
  }
}
