package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.evenkeel.TestPorts;
import dev.evenkeel.protocol.NodePorts;
import dev.evenkeel.util.files.LockedFile;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * A node that cannot have its data directory or its ports says so before anything of it starts. So
 * no engine logs that it ends half started, and nothing is written where another node runs.
 */
class StartRefusedTest {
  private final int port = TestPorts.take(4);
  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final Level level = root.getLevel();
  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

  @TempDir Path data;

  @BeforeEach
  void listen() {
    root.setLevel(Level.INFO);
    logged.start();
    root.addAppender(logged);
  }

  @AfterEach
  void restore() {
    root.detachAppender(logged);
    root.setLevel(level);
  }

  private ServeRun node() {
    return new ServeRun(
        NodeConfig.of(
            ConfigReader.merge(
                Map.of(),
                "",
                Map.of(),
                Map.of(
                    "port", String.valueOf(port),
                    "data", data.toString(),
                    "roles", "broker,dispatcher"))),
        (vertx, http, teardown, end) -> end.complete(null),
        new Teardown());
  }

  @Test
  void inADirectoryThatAnotherNodeHas() throws Exception {
    Path raft = Files.createDirectory(data.resolve("raft"));
    try (LockedFile other = LockedFile.open(raft.resolve("lock"))) {
      assertThat(other).isNotNull();
      assertThatThrownBy(() -> node().run())
          .isInstanceOf(CommandFailure.class)
          .hasMessageContaining("the data directory " + raft + " is in use by another process (pid")
          .hasMessageContaining("another data directory");
      assertThat(logged.list).isEmpty();
      assertThat(data.toFile().list()).containsExactly("raft");
    }
    // The refusal has kept nothing: now the node starts, and ends.
    assertThat(node().run()).isEqualTo(ExitStatus.DONE);
    assertThat(node().run()).isEqualTo(ExitStatus.DONE);
  }

  @Test
  void atAPortThatIsTaken() throws IOException {
    for (int taken : new int[] {port, NodePorts.raft(port), NodePorts.hazelcast(port)}) {
      try (ServerSocket other = new ServerSocket(taken, 1, InetAddress.getLoopbackAddress())) {
        assertThat(other.isBound()).isTrue();
        assertThatThrownBy(() -> node().run())
            .isInstanceOf(CommandFailure.class)
            .hasMessageContaining("cannot listen at 127.0.0.1:" + taken)
            .hasMessageContaining("choose another than --port " + port);
      }
    }
    assertThat(logged.list).isEmpty();
    assertThat(data).isEmptyDirectory();
  }
}
