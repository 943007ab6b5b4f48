package dev.evenkeel.broker.machine;

import dev.evenkeel.log.EntryBodies;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;

/**
 * Bodies in memory. They survive whoever writes them, and replicas may share them: each index has
 * one body, which never changes.
 */
public final class HeapBodies implements EntryBodies {
  private record Kept(long term, byte[] bytes) {}

  private final ConcurrentSkipListMap<Long, Kept> bodies = new ConcurrentSkipListMap<>();

  @Override
  public void open(long flushedIndex) {}

  @Override
  public void append(List<Body> more) {
    for (Body body : more) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (ByteBuffer part : body.parts()) {
        byte[] copy = new byte[part.remaining()];
        part.duplicate().get(copy);
        bytes.writeBytes(copy);
      }
      Kept now = new Kept(body.term(), bytes.toByteArray());
      Kept before = bodies.put(body.index(), now);
      if (before != null && !Arrays.equals(before.bytes(), now.bytes())) {
        throw new IllegalStateException("entry " + body.index() + " has another body than before");
      }
    }
  }

  /** Changes a byte of a body, as a disk may. */
  public void damage(long index, int at) {
    bodies.get(index).bytes()[at]++;
  }

  @Override
  public void force() {}

  @Override
  public long term(long index) {
    Kept kept = bodies.get(index);
    return kept == null ? -1 : kept.term();
  }

  @Override
  public void cutAfter(long index) {
    bodies.tailMap(index, false).clear();
  }

  @Override
  public boolean read(long index, int offset, ByteBuffer into) {
    Kept kept = bodies.get(index);
    if (kept == null || offset + into.remaining() > kept.bytes().length) {
      return false;
    }
    into.put(kept.bytes(), offset, into.remaining());
    return true;
  }

  @Override
  public ByteBuffer read(long index) {
    Kept kept = bodies.get(index);
    return kept == null ? null : ByteBuffer.wrap(kept.bytes());
  }

  @Override
  public void link(Path directory, long lastIndex) {}

  @Override
  public void restore(Path directory) {}

  @Override
  public void close() {}
}
