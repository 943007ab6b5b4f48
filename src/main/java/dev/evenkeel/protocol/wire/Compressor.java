package dev.evenkeel.protocol.wire;

/** A library that compresses bytes and unpacks them again. Any thread may use it. */
interface Compressor {
  /** The most bytes that {@code length} bytes can become. */
  int bytesMax(int length);

  /**
   * Writes the compressed form of {@code length} bytes to {@code to}, from {@code toAt} on.
   *
   * @return the number of bytes written
   */
  int compress(byte[] from, int at, int length, byte[] to, int toAt);

  /**
   * Unpacks {@code length} bytes to the first {@code room} bytes of {@code to}, and never beyond
   * them.
   *
   * @return the number of bytes written
   * @throws RuntimeException of any kind if the bytes are malformed, or if there is no room
   */
  int unpack(byte[] from, int at, int length, byte[] to, int room);
}
