package dev.evenkeel.broker.machine;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.storage.segment.BodyPart;
import dev.evenkeel.storage.segment.Segments;
import dev.evenkeel.util.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongConsumer;

/** The bodies of a log group's entries in {@link Segments}. */
public final class SegmentBodies implements EntryBodies {
  private final Path directory;
  private final long segmentBytesMax;
  private volatile Segments segments;
  private volatile LongConsumer onDamage = index -> {};

  /** Not open yet. */
  public SegmentBodies(Path directory, long segmentBytesMax) {
    this.directory = directory;
    this.segmentBytesMax = segmentBytesMax;
  }

  /** The files; null before they were opened. */
  public Segments segments() {
    return segments;
  }

  /** Calls {@code handler} with the index of an entry whose body is missing or damaged. */
  public void onDamage(LongConsumer handler) {
    onDamage = handler;
  }

  @Override
  public void open(long flushedIndex) throws IOException {
    segments = Segments.open(directory, segmentBytesMax, flushedIndex);
  }

  @Override
  public void append(List<Body> bodies) throws IOException {
    segments.append(
        bodies.stream()
            .map(body -> new Segments.Body(body.term(), body.index(), body.parts()))
            .toList());
  }

  @Override
  public void force() throws IOException {
    segments.force();
  }

  @Override
  public long term(long index) throws IOException {
    return segments.term(index);
  }

  @Override
  public void cutAfter(long index) throws IOException {
    segments.cutAfter(index);
  }

  @Override
  public boolean read(long index, int offset, ByteBuffer into) throws IOException {
    return segments.read(index, offset, into);
  }

  @Override
  public int read(List<Part> parts) throws IOException {
    return segments.read(
        parts.stream()
            .map(part -> new BodyPart(part.index(), part.offset(), part.into()))
            .toList());
  }

  @Override
  public ByteBuffer readPart(long index) throws IOException {
    return segments.readPart(index);
  }

  @Override
  public ByteBuffer read(long index) throws IOException {
    ByteBuffer body = segments.readVerified(index);
    if (body == null) {
      onDamage.accept(index);
    }
    return body;
  }

  @Override
  public void link(Path target, long lastIndex) throws IOException {
    segments.link(target, lastIndex);
  }

  @Override
  public void restore(Path from) throws IOException {
    segments.restore(from);
  }

  @Override
  public void setAside(Path target) throws IOException {
    if (Files.exists(directory)) {
      DurableFiles.move(directory, target);
      DurableFiles.force(directory.toAbsolutePath().getParent());
    }
  }

  @Override
  public void close() throws IOException {
    if (segments != null) {
      segments.close();
    }
  }
}
