package dev.evenkeel.functional;

import static dev.evenkeel.Futures.await;
import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Closing;
import dev.evenkeel.Evenkeel;
import dev.evenkeel.Fails;
import dev.evenkeel.Options;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.client.Consumer;
import dev.evenkeel.client.ConsumerOptions;
import dev.evenkeel.client.EvenkeelClient;
import io.vertx.core.Future;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A group stops reading a topic, by {@code unsubscribe} or {@code group delete}: its messages are
 * held no more, and nobody finds anything of it.
 */
class GroupDeleteIT {
  @TempDir static Path directory;
  @Closing private static Node node;
  @Closing private static EvenkeelClient client;

  @BeforeAll
  static void start() throws Exception {
    node = new Node(directory.resolve("node")).start();
    client = await(Evenkeel.connect(TestUsers.options().setSeeds(List.of(node.cluster()))));
  }

  private static Consumer join(
      String group, String member, ConsumerOptions.Mode mode, String... topics) throws Exception {
    return await(
        client.consumer(
            Options.member(group, member, topics)
                .setMode(mode)
                .setOffsetsDirectory(
                    mode == ConsumerOptions.Mode.BROADCAST
                        ? directory.resolve(group + "-" + member).toString()
                        : null),
            delivery -> Future.succeededFuture()));
  }

  private static JsonObject describe(String group) {
    return new JsonObject(node.read("/api/groups/" + group));
  }

  private static List<String> topics(String group) {
    return describe(group).getJsonArray("shards").stream()
        .map(shard -> ((JsonObject) shard).getString("topic"))
        .distinct()
        .toList();
  }

  private static HttpResponse<String> delete(String path) {
    return node.delete("/api/groups/" + path);
  }

  @ParameterizedTest
  @EnumSource(
      value = ConsumerOptions.Mode.class,
      names = {"SHARDED", "LEVEL", "SINGLETON", "BROADCAST"})
  @Timeout(180)
  void whoUnsubscribesLastMakesTheGroupForgetTheTopic(ConsumerOptions.Mode mode) throws Exception {
    String group = "g-" + mode.name().toLowerCase(java.util.Locale.ROOT);
    String old = "old-" + group;
    String kept = "kept-" + group;
    node.createTopic(old, 2);
    node.createTopic(kept, 2);
    node.send(old, List.of("a", "b", "c"));
    node.send(kept, List.of("a", "b", "c"));
    Consumer a = join(group, "a", mode, old, kept);
    Consumer b = join(group, "b", mode, old, kept);
    Wait.until(
        "all is consumed",
        () ->
            mode == ConsumerOptions.Mode.BROADCAST
                ? a.consumed() + b.consumed() == 12
                : a.consumed() + b.consumed() == 6);
    assertThat(topics(group)).containsExactlyInAnyOrder(kept, old);
    assertThat(await(a.unsubscribe(old))).as("b reads it").isFalse();
    assertThat(topics(group)).containsExactlyInAnyOrder(kept, old);
    assertThat(await(b.unsubscribe(old))).isTrue();
    assertThat(topics(group)).containsExactly(kept);
    assertThatThrownBy(() -> await(b.unsubscribe(old)))
        .hasMessageContaining("does not read topic '" + old + "': it reads " + kept);
    Fails.saying(() -> await(b.unsubscribe(kept)), "reads no other topic than '" + kept + "'");

    long before = a.consumed() + b.consumed();
    node.send(old, List.of("nobody"));
    node.send(kept, List.of("d", "e"));
    Wait.untilAsserted(
        "it goes on with the other topic",
        () -> {
          assertThat(a.consumed() + b.consumed())
              .isEqualTo(before + (mode == ConsumerOptions.Mode.BROADCAST ? 4 : 2));
          assertThat(describe(group).getString("status")).isEqualTo("OK");
        });
    long all = a.consumed() + b.consumed();
    Consumer c = join(group, "c", mode, old, kept);
    if (mode != ConsumerOptions.Mode.SINGLETON) {
      Wait.untilAsserted(
          "who subscribes again begins anew",
          () ->
              assertThat(
                      mode == ConsumerOptions.Mode.BROADCAST
                          ? c.consumed() - 2
                          : a.consumed() + b.consumed() + c.consumed() - all)
                  .isGreaterThanOrEqualTo(4));
    }
    await(Future.join(a.close(), b.close(), c.close()));
  }

  @Test
  @Timeout(180)
  void deletingIsRefusedWhileMembersReadAndShownBefore() throws Exception {
    node.createTopic("orders", 1);
    node.createTopic("audit", 1);
    Consumer other = join("other", "o", ConsumerOptions.Mode.SHARDED, "audit");
    Consumer both = join("billing", "m", ConsumerOptions.Mode.SHARDED, "orders", "audit");
    node.send("orders", List.of("a"));
    node.send("audit", List.of("a", "b"));
    node.awaitConsumed("billing", 3);

    Jar.Result refused = node.tryAdmin("group", "delete", "billing");
    assertThat(refused.status()).isEqualTo(1);
    assertThat(refused.err().strip())
        .contains("group 'billing' is in use by member 'm' on ")
        .endsWith(": stop it, and try again")
        .hasLineCount(1);
    HttpResponse<String> read = delete("billing?topic=audit");
    assertThat(read.statusCode()).isEqualTo(409);
    assertThat(new JsonObject(read.body()).getString("error")).isEqualTo("GROUP_ACTIVE");
    assertThat(delete("billing?topic=nothing").statusCode()).isEqualTo(404);
    assertThat(delete("nobody").statusCode()).isEqualTo(404);
    assertThat(delete("nobody?dryRun=true").statusCode()).isEqualTo(404);
    assertThat(delete("billing?dryRun=yes").body()).contains("'yes': it must be true or false");

    await(both.close());
    Consumer one = join("billing", "m", ConsumerOptions.Mode.SHARDED, "orders");
    node.send("audit", List.of("c", "d"));
    node.awaitConsumed("other", 4);
    JsonObject dry =
        new JsonObject(
            node.admin(words("group delete billing --topic audit --dry-run --format json")).out());
    assertThat(dry.getValue("refused")).isNull();
    JsonArray shards = dry.getJsonArray("shards");
    assertThat(shards).hasSize(1);
    JsonObject audit = shards.getJsonObject(0);
    assertThat(audit.getLong("bytesFreed")).isPositive();
    assertThat(audit.copy().putNull("bytesFreed"))
        .isEqualTo(
            new JsonObject()
                .put("topic", "audit")
                .put("shard", 0)
                .put("committed", 2)
                .put("end", 4)
                .put("lag", 2)
                .put("deadLetters", 0)
                .put("retries", 0)
                .putNull("bytesFreed"));
    assertThat(node.admin("group", "delete", "billing", "--dry-run").out())
        .contains("now it would be refused: group 'billing' is in use by member 'm'");
    assertThat(topics("billing")).containsExactlyInAnyOrder("audit", "orders");

    assertThat(node.admin("group", "delete", "billing", "--topic", "audit").out())
        .contains("deleted topic audit of group billing");
    assertThat(topics("billing")).containsExactly("orders");
    assertThat(describe("billing").getString("status")).isEqualTo("OK");
    await(one.close());
    assertThat(node.admin("group", "delete", "billing").out()).contains("deleted group billing");
    assertThat(node.get("/api/groups/billing").statusCode()).isEqualTo(404);
    assertThat(topics("other")).containsExactly("audit");
    await(other.close());
  }
}
