package dev.evenkeel.log.raft;

import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.log.SnapshotTransfer;
import dev.evenkeel.protocol.VoterId;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.function.Function;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings a follower of one log group up to date by a snapshot when the leader's log does not have
 * what it lacks.
 *
 * <p>The engine asks for a snapshot once, by {@link #notifyInstallSnapshotFromLeader}, and takes no
 * entries until the answer. It hears of the answer only when the leader reminds the follower, and
 * ten times in a second the leader does. So there are four cases to close:
 *
 * <pre>
 * the leader changes while the
 * snapshot is still coming        the answer fails. The new leader may have the entries; if not, the
 *                                 engine asks again, and the transfer goes on with the new leader
 * it changes when it is here      the new leader may never remind: {@link SerialAppends} does
 * the follower's log ends with
 * entries that were never
 * committed                       it names their end whenever it refuses entries, so the leader goes
 *                                 on from there, and reminds no more: {@link SerialAppends} does
 * the follower gets what it
 * lacked meanwhile                the reminder reaches the engine, although it needs no snapshot
 * </pre>
 */
final class SnapshotInstall implements StateMachine.FollowerEventApi, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SnapshotInstall.class);

  private final String group;
  private final SnapshotFiles files;
  private final SnapshotPull pull;
  private final Function<String, SnapshotSource> sources;
  private final ThreadPoolExecutor executor;

  /** What is under way, or not taken over yet; guarded by this. */
  private Install current;

  /**
   * Whether the state has not been replaced yet by the last snapshot that came; guarded by this.
   */
  private boolean restoring;

  private static final class Install {
    final ByteString leader;
    final TermIndex first;
    final CompletableFuture<TermIndex> answer = new CompletableFuture<>();
    Future<?> task;
    boolean here;
    boolean found;

    Install(ByteString leader, TermIndex first) {
      this.leader = leader;
      this.first = first;
    }
  }

  /**
   * @param sources the snapshots of another node
   */
  SnapshotInstall(
      String group,
      SnapshotFiles files,
      SnapshotPull pull,
      Function<String, SnapshotSource> sources) {
    this.group = group;
    this.files = files;
    this.pull = pull;
    this.sources = sources;
    executor = SnapshotServer.threads("log-snapshot-" + group, 1, Integer.MAX_VALUE);
  }

  SnapshotTransfer transfer() {
    return pull.transfer();
  }

  @Override
  public synchronized CompletableFuture<TermIndex> notifyInstallSnapshotFromLeader(
      RoleInfoProto role, TermIndex first) {
    Install install = new Install(role.getFollowerInfo().getLeaderInfo().getId().getId(), first);
    try {
      install.task = executor.submit(() -> run(install));
      current = install;
    } catch (RejectedExecutionException e) {
      install.answer.completeExceptionally(new IOException("this node is stopping", e));
    }
    return install.answer;
  }

  private void run(Install install) {
    String node = VoterId.node(install.leader.toStringUtf8());
    try {
      awaitRestored();
      TermIndex position =
          pull.run(
              new SnapshotPull.Order(node, sources.apply(node), install.first.getIndex()), files);
      synchronized (this) {
        if (current == install) {
          install.here = true;
          install.found = position != null;
          install.answer.complete(position);
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("log group {}: the transfer from {} was given up", group, node);
    } catch (RuntimeException | Error e) {
      LOG.error("log group {}: the transfer of a snapshot failed", group, e);
      synchronized (this) {
        current = current == install ? null : current;
      }
      install.answer.completeExceptionally(e);
    }
  }

  private synchronized void awaitRestored() throws InterruptedException {
    while (restoring) {
      wait();
    }
  }

  /** Another node leads, or the same one again. */
  synchronized void leaderChanged(RaftPeerId leader) {
    if (current != null && !current.here && !current.leader.equals(leader.toByteString())) {
      giveUp(VoterId.node(leader.toString()) + " leads now");
    }
  }

  private void giveUp(String why) {
    Install given = current;
    current = null;
    LOG.info("log group {}: gives the transfer of a snapshot up: {}", group, why);
    given.task.cancel(true);
    given.answer.completeExceptionally(new IOException(why));
  }

  /**
   * The first entry of the log of the leader that was asked and has answered, or null if the answer
   * was taken over. The engine takes it over at a notification that names this entry. If there is
   * no snapshot, a leader that reminds is to hear that.
   *
   * @param leader the voter that leads now
   */
  synchronized TermIndex notTakenOver(ByteString leader) {
    boolean answered = current != null && current.here;
    return answered && (current.found || !current.leader.equals(leader)) ? current.first : null;
  }

  /** Whether the engine has asked for a snapshot, and has not taken the answer yet. */
  synchronized boolean isPending() {
    return current != null;
  }

  /** The engine has told the leader that there is no snapshot. */
  synchronized void unavailable() {
    if (current != null && current.here) {
      current = null;
    }
  }

  /** The engine takes the snapshot over that has come: it becomes the newest one of this node. */
  void takeOver() throws IOException {
    IncomingSnapshot incoming = files.incoming();
    SnapshotManifest manifest = incoming.manifest();
    if (manifest == null) {
      throw new IOException("the snapshot that has come is not there");
    }
    synchronized (this) {
      current = null;
      restoring = true;
    }
    files.publish(TermIndex.valueOf(manifest.term(), manifest.index()), incoming.whole());
  }

  /** The state was replaced by the snapshot that has come. */
  synchronized void restored() {
    restoring = false;
    notifyAll();
    tidy();
  }

  /** Deletes what has come of a snapshot that this node does not need any more. */
  void tidy() {
    try {
      executor.execute(this::deleteNeedless);
    } catch (RejectedExecutionException e) {
      LOG.debug("log group {}: closed", group);
    }
  }

  /** On the thread of transfers, so that none is under way. */
  private void deleteNeedless() {
    try {
      SnapshotManifest coming = files.incoming().manifest();
      SnapshotFiles.Snapshot latest = files.latest();
      if (coming != null && latest != null && coming.index() <= latest.position().getIndex()) {
        files.incoming().delete();
      }
    } catch (IOException | RuntimeException e) {
      LOG.debug("log group {}: a transfer that is over stays on disk", group, e);
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      if (current != null && !current.here) {
        giveUp("this node is stopping");
      }
    }
    executor.shutdownNow();
  }
}
