package dev.evenkeel.log.raft;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.storage.segment.Segments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Bodies of entries in segments. */
final class FileBodies implements EntryBodies {
  static final int SEGMENT_BYTES = 4 << 20;

  private final Path directory;
  private final int segmentBytes;
  private volatile Segments segments;

  FileBodies(Path directory) {
    this(directory, SEGMENT_BYTES);
  }

  FileBodies(Path directory, int segmentBytes) {
    this.directory = directory;
    this.segmentBytes = segmentBytes;
  }

  Segments segments() {
    return segments;
  }

  Path directory() {
    return directory;
  }

  @Override
  public void open(long flushedIndex) throws IOException {
    segments = Segments.open(directory, segmentBytes, flushedIndex);
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
  public boolean holds(long term, long index) throws IOException {
    return segments.holds(term, index);
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
  public ByteBuffer read(long index) throws IOException {
    return segments.readVerified(index);
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
  public void close() throws IOException {
    if (segments != null) {
      segments.close();
    }
  }
}
