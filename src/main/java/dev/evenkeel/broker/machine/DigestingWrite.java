package dev.evenkeel.broker.machine;

import dev.evenkeel.storage.Store;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Passes the changes of one log entry on to the store, and makes a digest of them: of the entry's
 * index, and of each change with its table, keys and value, in their order. The value of a batch
 * has its checksum: a message is not read again.
 *
 * <p>Nobody needs it to withstand an attack: the function is a multiplication a word, and it mixes
 * well enough that two different entries have the same digest once in 2^64.
 */
final class DigestingWrite implements Store.Write {
  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);
  private static final long ODD = 0x9E3779B97F4A7C15L;
  private static final int PUT = 1;
  private static final int DELETE = 2;
  private static final int DELETE_RANGE = 3;

  private final Store.Write write;
  private long state;

  DigestingWrite(Store.Write write, long index) {
    this.write = write;
    fold(index);
  }

  /** Of the changes so far. */
  long digest() {
    long mixed = (state ^ (state >>> 33)) * 0xFF51AFD7ED558CCDL;
    mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
    return mixed ^ (mixed >>> 33);
  }

  private void fold(long word) {
    long product = (state ^ word) * ODD;
    state = product ^ (product >>> 32);
  }

  private void fold(int change, Store.Table table, byte[] key) {
    fold((long) change << 32 | table.ordinal());
    fold(key);
  }

  private void fold(byte[] bytes) {
    fold(bytes.length);
    int at = 0;
    for (; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
      fold((long) WORDS.get(bytes, at));
    }
    long rest = 0;
    for (; at < bytes.length; at++) {
      rest = rest << 8 | bytes[at] & 0xFF;
    }
    fold(rest);
  }

  @Override
  public void put(Store.Table table, byte[] key, byte[] value) {
    fold(PUT, table, key);
    fold(value);
    write.put(table, key, value);
  }

  @Override
  public void delete(Store.Table table, byte[] key) {
    fold(DELETE, table, key);
    write.delete(table, key);
  }

  @Override
  public void deleteRange(Store.Table table, byte[] from, byte[] to) {
    fold(DELETE_RANGE, table, from);
    fold(to);
    write.deleteRange(table, from, to);
  }

  @Override
  public void commit(long term, long index, byte[] note) throws IOException {
    write.commit(term, index, note);
  }

  @Override
  public void close() {
    write.close();
  }
}
