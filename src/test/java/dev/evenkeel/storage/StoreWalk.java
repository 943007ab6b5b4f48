package dev.evenkeel.storage;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import java.util.TreeMap;

/**
 * Walks over everything that a store holds. Of replicas of one log group that have applied the same
 * entry, all that is written must be the same, byte for byte.
 */
public final class StoreWalk {
  private static final byte[] LAST = new byte[64];

  static {
    Arrays.fill(LAST, (byte) 0xFF);
  }

  private StoreWalk() {}

  /** Of each table, how many rows it has and a SHA-256 of them all. */
  public static Map<Store.Table, String> digests(Store store) {
    Map<Store.Table, String> digests = new TreeMap<>();
    for (Store.Table table : Store.Table.values()) {
      digests.put(table, digest(store, table));
    }
    return digests;
  }

  private static String digest(Store store, Store.Table table) {
    MessageDigest digest;
    try {
      digest = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
    long rows = 0;
    try (Store.Cursor cursor = store.scan(table, new byte[0], LAST)) {
      while (cursor.next()) {
        rows++;
        byte[] key = cursor.key();
        byte[] value = cursor.value();
        digest.update(ByteBuffer.allocate(8).putInt(key.length).putInt(value.length).array());
        digest.update(key);
        digest.update(value);
      }
    }
    return rows + " rows, " + HexFormat.of().formatHex(digest.digest(), 0, 8);
  }
}
