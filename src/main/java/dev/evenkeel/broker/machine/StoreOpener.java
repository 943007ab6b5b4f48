package dev.evenkeel.broker.machine;

import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.nio.file.Path;

/** Opens the stores of log groups. */
@FunctionalInterface
public interface StoreOpener {
  /** Opens the store in a directory, which is made if it is missing. */
  Store open(Path directory) throws IOException;

  /** The bodies of a data log group, in files of about this size in a directory; not open yet. */
  default EntryBodies bodies(Path directory, long segmentBytesMax) {
    return new SegmentBodies(directory, segmentBytesMax);
  }
}
