package dev.evenkeel.cli;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.PatternLayoutEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.rolling.FixedWindowRollingPolicy;
import ch.qos.logback.core.rolling.RollingFileAppender;
import ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy;
import ch.qos.logback.core.util.Duration;
import ch.qos.logback.core.util.FileSize;
import dev.evenkeel.gateway.access.AuditLog;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;

/**
 * Where a node's {@link AuditLog} goes: into {@code audit.jsonl} and, when that is full, {@code
 * audit.1.jsonl} and so on. A thread of its own writes it.
 */
final class AuditFile {
  private static final long FILE_BYTES_MAX = 16 << 20;
  private static final int FORMER_FILES_MAX = 8;
  private static final int QUEUED_MAX = 4_096;
  private static final String NAME = "audit.jsonl";

  private static final long CHECK_MILLIS = 100;

  private AuditFile() {}

  /** Counts the lines for which there is no room. */
  private static final class CountingQueue extends AsyncAppender {
    @Override
    protected void append(ILoggingEvent line) {
      if (getRemainingCapacity() == 0) {
        AuditLog.lost();
      }
      super.append(line);
    }
  }

  /**
   * Writes the audit log into a directory, which it makes.
   *
   * @throws CommandFailure if it cannot
   */
  static void open(Path directory) {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext context)) {
      return;
    }
    try {
      PrivateFiles.createDirectories(directory);
    } catch (IOException e) {
      throw CommandFailure.failed("cannot make the directory " + directory, e);
    }
    RollingFileAppender<ILoggingEvent> file = new RollingFileAppender<>();
    file.setContext(context);
    file.setName("audit-file");
    file.setFile(directory.resolve(NAME).toString());
    PatternLayoutEncoder lines = new PatternLayoutEncoder();
    lines.setContext(context);
    lines.setPattern("%msg%n");
    lines.start();
    file.setEncoder(lines);
    FixedWindowRollingPolicy names = new FixedWindowRollingPolicy();
    names.setContext(context);
    names.setParent(file);
    names.setFileNamePattern(directory.resolve("audit.%i.jsonl").toString());
    names.setMaxIndex(FORMER_FILES_MAX);
    names.start();
    file.setRollingPolicy(names);
    SizeBasedTriggeringPolicy<ILoggingEvent> full = new SizeBasedTriggeringPolicy<>();
    full.setContext(context);
    full.setMaxFileSize(new FileSize(FILE_BYTES_MAX));
    // By default it looks once a minute, and a file can grow much larger meanwhile.
    full.setCheckIncrement(Duration.buildByMilliseconds(CHECK_MILLIS));
    full.start();
    file.setTriggeringPolicy(full);
    file.start();
    AsyncAppender queue = new CountingQueue();
    queue.setContext(context);
    queue.setName("audit");
    queue.setQueueSize(QUEUED_MAX);
    queue.setDiscardingThreshold(0);
    // An event loop must not wait for the disk.
    queue.setNeverBlock(true);
    queue.addAppender(file);
    queue.start();
    Logger logger = context.getLogger(AuditLog.LOGGER);
    logger.detachAndStopAllAppenders();
    logger.setAdditive(false);
    logger.addAppender(queue);
  }

  /** Writes what is queued, and ends. */
  static void close() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
      context.getLogger(AuditLog.LOGGER).detachAndStopAllAppenders();
    }
  }
}
