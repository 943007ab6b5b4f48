package dev.evenkeel.protocol;

/**
 * How a producer compresses its batches. Consumers and nodes read every form, whatever their own
 * options say, as long as they have the library.
 *
 * <p>The libraries are part of {@code evenkeel.jar}. An application that uses the client jar adds
 * the Maven dependency that it needs.
 */
public enum Compression {
  // The order is part of the batch's form on the wire: append only.

  /** Batches are sent as they are. This is the default. */
  NONE,
  /**
   * LZ4, which takes little time. It needs the Maven dependency {@code at.yawk.lz4:lz4-java} in
   * producers and consumers.
   */
  LZ4,
  /**
   * Zstandard, which makes batches smaller than LZ4 does and takes more time. It needs the Maven
   * dependency {@code com.github.luben:zstd-jni} in producers and consumers.
   */
  ZSTD
}
