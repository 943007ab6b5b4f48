package dev.evenkeel.broker.machine;

import dev.evenkeel.broker.state.TailMemory;
import dev.evenkeel.log.EntryBodies;
import dev.evenkeel.protocol.Limits;
import dev.evenkeel.protocol.wire.FeatureLevel;
import java.nio.file.Path;

/** State machines on nodes that all read what this build reads. */
public final class States {
  private States() {}

  public static DataState data(Path directory, StoreOpener opener, long tailBytesMax) {
    return data(directory, opener, new HeapBodies(), tailBytesMax);
  }

  public static DataState data(
      Path directory, StoreOpener opener, EntryBodies bodies, long tailBytesMax) {
    return data(directory, opener, bodies, tailBytesMax, Limits.RETRIES_MAX);
  }

  /**
   * @param retriesMax most messages of a group and shard that wait for another attempt
   */
  public static DataState data(
      Path directory, StoreOpener opener, EntryBodies bodies, long tailBytesMax, int retriesMax) {
    return new DataState(
        directory,
        opener,
        bodies,
        new TailMemory(tailBytesMax),
        FeatureLevel.reads(),
        FeatureLevel::reads) {
      @Override
      int retriesMax() {
        return retriesMax;
      }
    };
  }

  public static MetaState meta(Path directory, StoreOpener opener) {
    return new MetaState(directory, opener, FeatureLevel.reads());
  }
}
