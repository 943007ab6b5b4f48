package dev.evenkeel.client.internal.session;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LinkListeningTest {
  private final Vertx application = Vertx.vertx();

  @AfterEach
  void close() throws Exception {
    await(application.close());
  }

  /** A consumer that is closed while there is no cluster ends what it listened at. */
  @Test
  void endsAlsoAfterTheVertxThatItListenedWithWasClosed() throws Exception {
    List<LinkListening> ended = new ArrayList<>();
    Vertx bus = Vertx.vertx();
    LinkListening listening =
        new LinkListening("a", body -> null, application.getOrCreateContext(), ended::add);
    await(listening.registerWith(bus));
    await(bus.close());
    listening.end();
    assertThat(ended).containsExactly(listening);
  }
}
