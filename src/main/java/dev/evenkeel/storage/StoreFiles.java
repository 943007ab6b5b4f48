package dev.evenkeel.storage;

import dev.evenkeel.util.files.DurableFiles;
import dev.evenkeel.util.files.PrivateFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Work on the files of stores that are not open. */
public final class StoreFiles {
  private StoreFiles() {}

  /**
   * Puts a copy of a checkpoint in the place of a closed store. The checkpoint's files stay
   * untouched: those that the engine never changes are linked, the others copied. If it fails half
   * way, the old store is gone or whole, and a call can be repeated.
   *
   * @throws IOException if the checkpoint is not one, or cannot be copied
   */
  public static void replace(Path directory, Path checkpoint) throws IOException {
    if (!Files.exists(checkpoint.resolve("CURRENT"))) {
      throw new IOException(checkpoint + " is not a checkpoint of a store: it has no file CURRENT");
    }
    Path target = directory.toAbsolutePath();
    Path staged = target.resolveSibling(target.getFileName() + ".restoring");
    DurableFiles.deleteTree(staged);
    PrivateFiles.createDirectories(staged);
    for (Path file : DurableFiles.list(checkpoint)) {
      String name = file.getFileName().toString();
      Path copy = staged.resolve(name);
      if (name.endsWith(".sst")) {
        DurableFiles.link(file, copy);
      } else {
        DurableFiles.copy(file, copy);
      }
    }
    DurableFiles.force(staged);
    remove(target);
    DurableFiles.move(staged, target);
  }

  /** Deletes a closed store in one step: of one that is half deleted, a start could not tell. */
  public static void remove(Path directory) throws IOException {
    Path target = directory.toAbsolutePath();
    Path removed = target.resolveSibling(target.getFileName() + ".removed");
    DurableFiles.deleteTree(removed);
    if (Files.exists(target)) {
      DurableFiles.move(target, removed);
      DurableFiles.deleteTree(removed);
    }
  }
}
