package dev.evenkeel.client.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.protocol.HostPort;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(VertxExtension.class)
class NodeSearchTest {
  /** As when an application closes its Vert.x before its client. */
  @Test
  void aVertxThatIsClosedEndsTheSearch(Vertx vertx) {
    List<HostPort> tried = new ArrayList<>();
    List<String> failed = new ArrayList<>();
    NodeSearch search =
        new NodeSearch(
            vertx,
            Runnable::run,
            List.of(new HostPort("a", 1), new HostPort("b", 1)),
            address -> {
              tried.add(address);
              return Future.failedFuture(new RejectedExecutionException("closed"));
            },
            () -> failed.add("failed"));
    search.next();
    search.next();
    assertThat(tried).containsExactly(new HostPort("a", 1));
    assertThat(failed).isEmpty();
  }
}
