package dev.evenkeel.broker.machine;

import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.nio.file.Path;

/** Opens the store in a directory, which is made if it is missing. */
@FunctionalInterface
public interface StoreOpener {
  Store open(Path directory) throws IOException;
}
