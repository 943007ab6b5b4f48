package dev.evenkeel.log.raft;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.log.SnapshotManifest;
import dev.evenkeel.log.SnapshotSource;
import dev.evenkeel.util.files.ByteRate;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.FollowerInfoProto;
import org.apache.ratis.proto.RaftProtos.RaftPeerProto;
import org.apache.ratis.proto.RaftProtos.RoleInfoProto;
import org.apache.ratis.proto.RaftProtos.ServerRpcProto;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the engine is answered when it asks for a snapshot, and what becomes of the answer. */
class SnapshotAnswersTest {
  private static final RaftPeerId A = RaftPeerId.valueOf("a@1");
  private static final RaftPeerId B = RaftPeerId.valueOf("b@1");
  private static final TermIndex FIRST = TermIndex.valueOf(1, 0);

  @TempDir Path temp;
  private final CompletableFuture<SnapshotManifest> newest = new CompletableFuture<>();
  private String asked;
  private final SnapshotSource source =
      new SnapshotSource() {
        @Override
        public CompletableFuture<SnapshotManifest> newest(String group) {
          return newest.copy();
        }

        @Override
        public CompletableFuture<ByteBuffer> read(Chunk chunk) {
          throw new AssertionError(chunk);
        }
      };
  private final SnapshotFiles files = new SnapshotFiles(System::nanoTime);
  private final ByteRate pace = new ByteRate(1 << 20);
  private final SnapshotInstall install =
      new SnapshotInstall(
          "d0",
          files,
          new SnapshotPull("d0", pace, new SnapshotChecksums(pace), () -> null),
          node -> {
            asked = node;
            return source;
          });

  @AfterEach
  void close() {
    install.close();
  }

  private CompletableFuture<TermIndex> ask() {
    RaftPeerProto leader = RaftPeerProto.newBuilder().setId(A.toByteString()).build();
    return install.notifyInstallSnapshotFromLeader(
        RoleInfoProto.newBuilder()
            .setFollowerInfo(
                FollowerInfoProto.newBuilder()
                    .setLeaderInfo(ServerRpcProto.newBuilder().setId(leader)))
            .build(),
        FIRST);
  }

  @Test
  void theAnswerFailsWhenAnotherNodeLeads() {
    CompletableFuture<TermIndex> answer = ask();
    install.leaderChanged(A);
    assertThat(answer).isNotDone();
    assertThat(install.notTakenOver(B.toByteString())).isNull();
    install.leaderChanged(B);
    assertThat(answer).isCompletedExceptionally();
    // The engine may ask again.
    CompletableFuture<TermIndex> again = ask();
    newest.complete(null);
    Wait.until(again::isDone);
    assertThat(again).isCompletedWithValue(null);
    assertThat(asked).isEqualTo("a");
  }

  @Test
  void anAnswerThatTheEngineHasNotHeardIsRememberedForAnotherLeader() {
    CompletableFuture<TermIndex> answer = ask();
    newest.complete(null);
    Wait.until(answer::isDone);
    install.leaderChanged(B);
    assertThat(answer).isCompletedWithValue(null);
    assertThat(install.notTakenOver(A.toByteString())).isNull();
    assertThat(install.notTakenOver(B.toByteString())).isEqualTo(FIRST);
    install.unavailable();
    assertThat(install.notTakenOver(B.toByteString())).isNull();
  }

  /** It may remind no more: see {@link SnapshotInstall}. */
  @Test
  void aSnapshotThatTheEngineHasNotHeardOfIsRememberedForItsLeader() throws IOException {
    SnapshotFilesTest.open(files, temp);
    CompletableFuture<TermIndex> answer = ask();
    assertThat(install.notTakenOver(A.toByteString())).isNull();
    newest.complete(new SnapshotManifest(1, 5, List.of()));
    Wait.until(answer::isDone);
    assertThat(answer).isCompletedWithValue(TermIndex.valueOf(1, 5));
    assertThat(install.notTakenOver(A.toByteString())).isEqualTo(FIRST);
    install.takeOver();
    assertThat(install.notTakenOver(A.toByteString())).isNull();
  }

  @Test
  void theAnswerFailsWhenTheNodeStops() {
    CompletableFuture<TermIndex> answer = ask();
    install.close();
    assertThat(answer).isCompletedExceptionally();
    assertThat(ask()).isCompletedExceptionally();
  }
}
