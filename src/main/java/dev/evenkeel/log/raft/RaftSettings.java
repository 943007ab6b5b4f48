package dev.evenkeel.log.raft;

import dev.evenkeel.log.LogSettings;
import java.io.File;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.RaftServerConfigKeys.Log;
import org.apache.ratis.server.RaftServerConfigKeys.Rpc;
import org.apache.ratis.server.RaftServerConfigKeys.Snapshot;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** The engine's settings, with the reason for each that is not its default. */
final class RaftSettings {
  /** Largest entry in the engine's own form. */
  static final int ENTRY_BYTES_MAX = 4 << 20;

  static final int WRITE_BUFFER_BYTES = ENTRY_BYTES_MAX + (64 << 10);

  /** The engine wants 1 MiB more than the entries of one request. */
  private static final int MESSAGE_BYTES_MAX = ENTRY_BYTES_MAX + (2 << 20);

  /** The part of that which an entry's content may take. */
  static final int CONTENT_BYTES_MAX = ENTRY_BYTES_MAX - 1024;

  private static final int SNAPSHOTS_KEPT = 2;

  /**
   * The log has heads only, so that a file of this size stands for 50 to 100 MiB of bodies, which
   * cannot be deleted before it.
   */
  static final int FILE_BYTES_MAX = 256 << 10;

  /** Preallocating writes zeros: a larger step would write more of them than entries. */
  private static final long PREALLOCATED_BYTES = 64L << 10;

  private static final int FILES_CACHED_MAX = 8;
  private static final long CACHED_BYTES_MAX = 16L << 20;

  private RaftSettings() {}

  /**
   * @param alone whether there is no other node
   */
  static RaftProperties of(
      LogSettings settings, LogSettings.Peer own, File storage, boolean alone) {
    RaftProperties properties = new RaftProperties();
    RaftConfigKeys.Rpc.setType(properties, new SerialRpc());
    GrpcConfigKeys.Server.setPort(properties, own.raftPort());
    // The default is every address of the machine, and the port is open to whoever reaches it.
    GrpcConfigKeys.Server.setHost(properties, own.listenHost());
    // The default is 64 MiB, which whoever reaches the port could make this node hold many times.
    GrpcConfigKeys.setMessageSizeMax(properties, SizeInBytes.valueOf(MESSAGE_BYTES_MAX));
    RaftServerConfigKeys.setStorageDir(properties, List.of(storage));
    elections(properties, alone);
    log(properties);
    snapshots(properties, settings);
    // Appends are bounded before they come here; at the same bounds the engine would refuse some
    // in the moment between an answer and its own book-keeping.
    RaftServerConfigKeys.Write.setElementLimit(properties, 2 * Submitter.PENDING_ENTRIES_MAX);
    RaftServerConfigKeys.Write.setByteLimit(
        properties, SizeInBytes.valueOf(2 * Submitter.PENDING_BYTES_MAX));
    // Nothing is sent twice with one call id, and what the cache keeps is every reply.
    RaftServerConfigKeys.RetryCache.setExpiryTime(properties, seconds(2));
    return properties;
  }

  private static void elections(RaftProperties properties, boolean alone) {
    if (alone) {
      // There is nobody whose vote could be waited for.
      Rpc.setFirstElectionTimeoutMin(properties, millis(1));
      Rpc.setFirstElectionTimeoutMax(properties, millis(5));
    } else {
      Rpc.setFirstElectionTimeoutMin(properties, millis(500));
      Rpc.setFirstElectionTimeoutMax(properties, millis(1_000));
    }
    // To a follower counted as slow the leader sends heartbeats only. The default, a minute of
    // trying without a pause while it is down, keeps a core busy.
    Rpc.setSlownessTimeout(properties, seconds(3));
    // Also of a lone node: others may join while it runs.
    Rpc.setTimeoutMin(properties, millis(800));
    Rpc.setTimeoutMax(properties, millis(1_500));
    // For Elections.leadsForSure; nothing is read through the engine.
    RaftServerConfigKeys.Read.setLeaderLeaseEnabled(properties, true);
  }

  private static void log(RaftProperties properties) {
    Log.setSegmentSizeMax(properties, SizeInBytes.valueOf(FILE_BYTES_MAX));
    Log.setPreallocatedSize(properties, SizeInBytes.valueOf(PREALLOCATED_BYTES));
    // The engine flushes heads and bodies side by side, and waits for both.
    Log.StateMachineData.setSync(properties, false);
    // LogBodies has the bodies; the engine must not keep them in memory a second time.
    Log.StateMachineData.setCachingEnabled(properties, true);
    // The default waits for up to 5 s after a number of refusals, deaf to everything, and the
    // follower hears no heartbeat meanwhile.
    Log.Appender.setRetryPolicy(properties, "1ms,10, 100ms,1000000000");
    Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf(ENTRY_BYTES_MAX));
    // Direct memory, once a group; it must hold one largest entry with its frame.
    Log.setWriteBufferSize(properties, SizeInBytes.valueOf(WRITE_BUFFER_BYTES));
    Log.setSegmentCacheNumMax(properties, FILES_CACHED_MAX);
    Log.setSegmentCacheSizeMax(properties, SizeInBytes.valueOf(CACHED_BYTES_MAX));
    Log.setCorruptionPolicy(properties, Log.CorruptionPolicy.EXCEPTION);
    // The commit index as an entry of its own would cost one more flush for many an entry, and
    // tells only what the leader tells anyway.
    Log.setLogMetadataEnabled(properties, false);
    // Composed appends let a heartbeat make a follower apply uncommitted entries. They are meant
    // for requests that overlap, and behind SerialAppends none do.
    Log.setAppendEntriesComposeEnabled(properties, false);
    // Up to the snapshot, not up to the slowest peer: a dead follower must not fill the disk.
    Log.setPurgeUptoSnapshotIndex(properties, true);
    Log.setPurgeGap(properties, 1);
  }

  private static void snapshots(RaftProperties properties, LogSettings settings) {
    Snapshot.setAutoTriggerEnabled(properties, true);
    long entries = settings.snapshotEveryEntries();
    Snapshot.setAutoTriggerThreshold(properties, entries > 0 ? entries : LogMemory.ENTRIES_MAX);
    Snapshot.setRetentionFileNum(properties, SNAPSHOTS_KEPT);
    // Followers copy snapshots themselves, see SnapshotInstall.
    Log.Appender.setInstallSnapshotEnabled(properties, false);
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }

  private static TimeDuration seconds(long seconds) {
    return TimeDuration.valueOf(seconds, TimeUnit.SECONDS);
  }
}
