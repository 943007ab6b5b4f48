package dev.evenkeel.client.internal.spool.log;

import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.wire.Bytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * The records of a spool in segments. It appends at the end, reads from anywhere, and drops a
 * segment when all of it is acknowledged. Not thread-safe, and it blocks.
 *
 * <p>Each segment begins with a snapshot of all before it, so no segment needs an earlier one. A
 * segment is forced to the disk before the next one is begun, so damage by a crash can only be at
 * the end of the last one.
 */
public final class SpoolLog {
  /** Of the names of segments. */
  public static final String SUFFIX = ".spool";

  private static final int BUFFER_BYTES = 64 << 10;

  /** A larger one is given back to the collector. */
  private static final int BUFFER_BYTES_KEPT = 4 << 20;

  /**
   * The damaged end of a segment, which was cut off.
   *
   * @param bytes that were cut
   */
  public record Cut(String segment, long at, long bytes, String reason) {}

  /**
   * Frames as they are in the spool.
   *
   * @param nextRun the run of the first frame behind them, or 0 if there is none
   */
  public record Loaded(List<SpoolRecord.Frame> frames, int nextRun) {}

  private static final class Segment {
    final String name;
    long size;
    long lastFrame;

    Segment(String name) {
      this.name = name;
    }
  }

  private final SpoolStorage storage;
  private final long segmentBytes;
  private final List<Segment> segments = new ArrayList<>();
  private SpoolState state;
  private Cut cut;
  private Bytes buffer = new Bytes(BUFFER_BYTES);
  private boolean broken;
  private boolean unforced;

  // Where reading goes on.
  private long readFrame = 1;
  private Segment readSegment;
  private SegmentReader reader;
  private SpoolRecord.Frame readAhead;

  private SpoolLog(SpoolStorage storage, long segmentBytes) {
    this.storage = storage;
    this.segmentBytes = segmentBytes;
  }

  /**
   * Reads all that is there, and cuts a damaged end.
   *
   * @param segmentBytes a segment that has become as large is followed by another
   * @throws RefusedException CORRUPT if it is damaged elsewhere
   */
  public static SpoolLog open(SpoolStorage storage, long segmentBytes) throws IOException {
    SpoolLog log = new SpoolLog(storage, segmentBytes);
    List<String> names = new ArrayList<>(storage.names());
    names.removeIf(name -> !name.endsWith(SUFFIX));
    Collections.sort(names);
    for (int i = 0; i < names.size(); i++) {
      log.recover(names.get(i), i == names.size() - 1);
    }
    if (log.state != null) {
      log.readFrame = log.state.ackedFrame() + 1;
      log.dropAcked();
    }
    return log;
  }

  private void recover(String name, boolean last) throws IOException {
    Segment segment = new Segment(name);
    SegmentReader records = new SegmentReader(storage, name, 0);
    RefusedException damage = null;
    boolean begun = false;
    try {
      for (SpoolRecord record = records.next(); record != null; record = records.next()) {
        take(record, begun);
        begun = true;
        segment.size = records.position();
        segment.lastFrame = state.lastFrame();
      }
    } catch (RefusedException refused) {
      if (refused.refusal() == Refusal.WRONG_VERSION) {
        // It is whole, and there may be more behind it: nothing of that is cut off.
        throw new RefusedException(
            Refusal.WRONG_VERSION,
            "the spool's " + name + " at byte " + records.position() + ": " + refused.getMessage());
      }
      damage = refused;
    }
    long size = storage.size(name);
    if (damage != null || !begun) {
      boolean neverBegun = size == 0 || records.endsEarly();
      if (!last || !begun && state == null && !neverBegun) {
        throw new RefusedException(
            Refusal.CORRUPT,
            "the spool's "
                + name
                + " is damaged at byte "
                + segment.size
                + ": "
                + (damage == null ? "it is empty" : damage.getMessage()));
      }
      cut =
          new Cut(
              name,
              segment.size,
              size - segment.size,
              damage == null ? "it is empty" : damage.getMessage());
    }
    if (!begun) {
      storage.delete(name);
      return;
    }
    if (size > segment.size) {
      storage.truncate(name, segment.size);
    }
    segments.add(segment);
  }

  private void take(SpoolRecord record, boolean begun) {
    if (begun == record instanceof SpoolRecord.Snapshot) {
      throw new RefusedException(
          Refusal.CORRUPT,
          begun ? "a state record in its middle" : "it does not begin with a state record");
    }
    if (state == null) {
      state = ((SpoolRecord.Snapshot) record).state();
    } else {
      state.apply(record);
    }
  }

  /** What was cut when it was opened, or null. */
  public Cut cut() {
    return cut;
  }

  /** Null if there is no spool yet. */
  public SpoolState state() {
    return state;
  }

  /** Begins a new spool, and forces it to the disk. */
  public void create(SpoolState.Identity identity) throws IOException {
    state = SpoolState.fresh(identity);
    begin();
    flush();
    force();
  }

  /** Of all segments. */
  public long bytes() {
    long sum = 0;
    for (Segment segment : segments) {
      sum += segment.size;
    }
    return sum;
  }

  /**
   * Writes records at the end.
   *
   * @throws IOException after which nothing more is written: the end is unknown
   */
  public void append(SpoolRecord record) throws IOException {
    if (broken) {
      throw new IOException("an earlier write failed");
    }
    if (active().size >= segmentBytes) {
      force();
      begin();
    }
    RecordFormat.write(buffer, record);
    flush();
    state.apply(record);
    active().lastFrame = state.lastFrame();
  }

  private void begin() {
    long number = segments.isEmpty() ? 1 : 1 + Long.parseLong(active().name.replace(SUFFIX, ""));
    Segment next = new Segment(String.format("%012d", number) + SUFFIX);
    next.lastFrame = state.lastFrame();
    segments.add(next);
    RecordFormat.write(buffer, new SpoolRecord.Snapshot(state));
  }

  private void flush() throws IOException {
    broken = true;
    int size = buffer.size();
    storage.append(active().name, buffer.view());
    active().size += size;
    if (size > BUFFER_BYTES_KEPT) {
      buffer = new Bytes(BUFFER_BYTES);
    } else {
      buffer.reset();
    }
    unforced = true;
    broken = false;
  }

  /** Returns when all that was written survives a crash of the machine. */
  public void force() throws IOException {
    if (unforced) {
      storage.force(active().name);
      unforced = false;
    }
  }

  /**
   * Records that all frames up to this one are in the log, and drops segments that have no others.
   */
  public void acked(long frame, long messages) throws IOException {
    append(new SpoolRecord.Acked(frame, messages));
    dropAcked();
  }

  private void dropAcked() throws IOException {
    while (segments.size() > 1 && segments.get(0).lastFrame <= state.ackedFrame()) {
      // The acknowledgement must be on the disk before the segment is gone.
      force();
      Segment done = segments.remove(0);
      if (done == readSegment) {
        stopReading();
      }
      storage.delete(done.name);
    }
  }

  private Segment active() {
    return segments.get(segments.size() - 1);
  }

  /** Whether there are frames that were neither loaded nor passed over. */
  public boolean hasMore() {
    return readFrame <= state.lastFrame();
  }

  /** All frames so far were sent from memory, and need not be read. */
  public void passOver() {
    readFrame = state.lastFrame() + 1;
    stopReading();
  }

  private void stopReading() {
    readSegment = null;
    reader = null;
    readAhead = null;
  }

  /**
   * The next frames of a run that were neither loaded nor passed over.
   *
   * @param bytesMax about so many; one frame at least, if there is one
   */
  public Loaded load(int run, long bytesMax) throws IOException {
    List<SpoolRecord.Frame> frames = new ArrayList<>();
    long bytes = 0;
    while (readFrame <= state.lastFrame()) {
      SpoolRecord.Frame frame = readAhead != null ? readAhead : nextFrame();
      readAhead = frame;
      if (frame.run() != run || !frames.isEmpty() && bytes >= bytesMax) {
        return new Loaded(frames, frame.run());
      }
      readAhead = null;
      readFrame++;
      frames.add(frame);
      bytes += frame.bytes();
    }
    return new Loaded(frames, 0);
  }

  private SpoolRecord.Frame nextFrame() throws IOException {
    while (true) {
      if (reader == null || reader.position() >= readSegment.size) {
        Segment next = null;
        for (Segment each : segments) {
          if (each.lastFrame >= readFrame) {
            next = each;
            break;
          }
        }
        if (next == null || next == readSegment) {
          throw new IOException("the spool has lost frame " + readFrame);
        }
        readSegment = next;
        reader = new SegmentReader(storage, next.name, 0);
      }
      if (reader.next() instanceof SpoolRecord.Frame frame && frame.number() >= readFrame) {
        if (frame.number() != readFrame) {
          throw new IOException("the spool has lost frame " + readFrame);
        }
        return frame;
      }
    }
  }
}
