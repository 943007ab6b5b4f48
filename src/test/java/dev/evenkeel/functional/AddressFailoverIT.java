package dev.evenkeel.functional;

import static dev.evenkeel.functional.AddressReceivers.got;
import static dev.evenkeel.functional.AddressReceivers.payloads;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Wait;
import dev.evenkeel.functional.AddressReceivers.Got;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that send messages to an address take over from each other. */
class AddressFailoverIT {
  private static final JsonObject CONSUMER =
      new JsonObject()
          .put("group", "billing")
          .put("topics", new JsonArray().add("orders"))
          .put("address", "billing.handle");

  @TempDir Path directory;

  private static List<String> named(String what, int count) {
    return IntStream.range(0, count).mapToObj(i -> what + "-" + i).toList();
  }

  private static int members(Node asked) {
    return new JsonObject(asked.read("/api/groups/billing"))
        .getJsonArray("members", new JsonArray())
        .size();
  }

  /** All nodes have the same setting, and share the shards. */
  @Test
  void whenANodeDiesTheOthersSendItsMessages() throws Exception {
    AddressReceivers receivers = new AddressReceivers(directory);
    String consumers = new JsonArray().add(CONSUMER).encode();
    try (Trio trio = new Trio(directory, "--consumers", consumers).start()) {
      Node dies = trio.node(1);
      Node stays = trio.node(2);
      dies.createTopic("orders", 6);
      Wait.until("all are members", () -> members(stays) == 3);
      Jar.Running receiver = receivers.start(stays, "receiver", "billing.handle");
      List<String> first = named("first", 300);
      dies.sendByKey("orders", first);
      Wait.until("some have come", () -> got("billing.handle", receiver).size() > 50);
      String session = open(dies);
      dies.kill();
      List<String> second = named("second", 300);
      Path file = Files.write(directory.resolve("second.txt"), second);
      Jar.Result produced =
          stays.produce("second", file, "orders", "--key-regex", "^(.*)$").await();
      assertThat(produced.status()).as(produced.toString()).isZero();
      TreeSet<String> all = new TreeSet<>(first);
      all.addAll(second);
      Wait.until("all have come", 60, () -> payloads(got("billing.handle", receiver)).equals(all));
      stays.awaitConsumed("billing", 600);
      inOrder(got("billing.handle", receiver));
      assertThat(members(stays)).isEqualTo(2);
      var gone = stays.post(session + "/extend", "");
      assertThat(gone.statusCode()).as(gone.body()).isEqualTo(404);
      assertThat(gone.body()).contains("UNKNOWN_SESSION");
      receiver.close();
    }
  }

  private static String open(Node node) {
    JsonObject options = CONSUMER.copy().put("address", "other.in");
    options.remove("group");
    var opened = node.post("/api/groups/other/sessions", options.encode());
    assertThat(opened.statusCode()).as(opened.body()).isEqualTo(201);
    return "/api/groups/other/sessions/" + new JsonObject(opened.body()).getString("session");
  }

  /** What was finished and not committed comes again; nothing else comes early. */
  private static void inOrder(List<Got> got) {
    Map<Integer, List<Long>> firsts = new HashMap<>();
    for (Got each : got) {
      List<Long> offsets = firsts.computeIfAbsent(each.shard(), any -> new ArrayList<>());
      if (!offsets.contains(each.offset())) {
        offsets.add(each.offset());
      }
    }
    firsts.values().forEach(offsets -> assertThat(offsets).isSorted());
  }
}
