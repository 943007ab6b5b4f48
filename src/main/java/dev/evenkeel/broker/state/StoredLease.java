package dev.evenkeel.broker.state;

import dev.evenkeel.protocol.Lease;
import dev.evenkeel.protocol.wire.ByteReader;
import dev.evenkeel.protocol.wire.RecordCodec;
import dev.evenkeel.storage.Store;

/** Reads a lease together with its state. */
public final class StoredLease {
  private StoredLease() {}

  /** The lease of one moment with the bytes of its state, or null. */
  public static Lease read(Store store, LeaseKey key) {
    byte[] behind = Keys.leaseState(key);
    behind[behind.length - 1]++;
    Lease lease = null;
    byte[] state = null;
    // One cursor, and so one moment: position and state belong together.
    try (Store.Cursor cursor = store.scan(Store.Table.LEASES, Keys.lease(key), behind)) {
      while (cursor.next()) {
        if (Keys.isLeaseState(cursor.key())) {
          state = cursor.value();
        } else {
          lease = RecordCodec.lease(new ByteReader(cursor.value()));
        }
      }
    }
    return lease == null || state == null ? lease : lease.withState(state);
  }
}
