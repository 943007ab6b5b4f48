package dev.evenkeel.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.TestUsers;
import dev.evenkeel.client.ProducerOptions;
import dev.evenkeel.client.plain.PlainClient;
import dev.evenkeel.client.plain.PlainProducer;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpResponse;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** A node in the JVM of a test. */
class EmbeddedNodeTest {
  @Test
  void aRestartLeavesNothingOfTheFormerNodeInTheMemory() {
    try (EmbeddedNode node = EmbeddedNode.start()) {
      // It holds all the rest.
      WeakReference<Vertx> former = new WeakReference<>(node.vertx());
      node.restart();
      Awaitility.await("the former node is collected")
          .untilAsserted(
              () -> {
                System.gc();
                assertThat(former.get()).isNull();
              });
    }
  }

  @Test
  void usersMayDoWhatTheTestSays() throws IOException, InterruptedException {
    try (EmbeddedNode node =
        EmbeddedNode.start(Map.of(), Map.of("shop", "produce:orders", "guest", ""))) {
      node.createTopic("orders", 1);
      node.createTopic("bills", 1);
      try (PlainClient shop = Evenkeel.connectAndWait(node.clientOptions("shop"));
          PlainProducer sends = shop.producer(new ProducerOptions().setTopic("orders"))) {
        sends.send("k", new byte[1]);
        assertThatThrownBy(() -> shop.producer(new ProducerOptions().setTopic("bills")))
            .hasMessageContaining("bills");
      }
      // The users are still there, and so are the clients of the node.
      node.restart();
      Awaitility.await("the client of the node is connected again")
          .ignoreExceptionsInstanceOf(RefusedException.class)
          .until(() -> Waits.get(node.admin().topics(), EmbeddedNode.PATIENCE).size() == 2);
      assertThat(topics(node, EmbeddedNode.OPERATOR)).contains("orders", "bills");
      assertThat(topics(node, "shop")).contains("orders").doesNotContain("bills");
      assertThat(topics(node, "guest")).doesNotContain("orders");
      assertThatThrownBy(() -> node.token("billing"))
          .isInstanceOf(RefusedException.class)
          .hasMessageContaining("there is no user 'billing'");
    }
  }

  private static String topics(EmbeddedNode node, String user)
      throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            TestUsers.request(URI.create(node.http() + "/api/topics"), node.token(user)).build(),
            HttpResponse.BodyHandlers.ofString())
        .body();
  }

  @Test
  void aWrongUserIsSaidAtTheStart() {
    assertThatThrownBy(() -> EmbeddedNode.start(Map.of(), Map.of("shop", "sell:orders")))
        .hasMessageContaining("the permission 'sell:orders' begins with 'sell'");
    assertThatThrownBy(() -> EmbeddedNode.start(Map.of(), Map.of(EmbeddedNode.OPERATOR, "")))
        .hasMessageContaining("use another name");
    assertThatThrownBy(
            () -> EmbeddedNode.start(Map.of("users", "users.json"), Map.of("shop", "view:*")))
        .hasMessageContaining("the test kit writes the file");
  }
}
