package dev.evenkeel.cli;

import dev.evenkeel.protocol.RefusedException;
import dev.evenkeel.protocol.StartAt;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group reset}. */
@Command(
    name = "reset",
    mixinStandardHelpOptions = true,
    description = {
      "Sets a group to another place: it consumes again from there, or skips what lies before.",
      "It is refused while a consumer owns one of the shards. State and retries go, dead letters"
          + " stay."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel group reset billing --to earliest --dry-run",
      "  evenkeel group reset billing --to 2026-01-31T12:00:00Z",
      "  evenkeel group reset billing --to 12345 --shard 2 --force"
    })
final class GroupResetCommand implements Callable<Integer> {
  @Mixin private ApiOptions options;

  @Parameters(paramLabel = "GROUP", description = "Name of the group.")
  private String group;

  @Option(
      names = "--to",
      paramLabel = "earliest|latest|OFFSET|TIME",
      required = true,
      description =
          "Where it goes on: the first message kept, the next one to come, an offset like 12345, or"
              + " the first message from a time on, like 2026-01-31T12:00:00Z.")
  private String to;

  @Option(
      names = "--topic",
      paramLabel = "TOPIC",
      description = "Only shards of this topic (default: of all that the group reads).")
  private String topic;

  @Option(names = "--shard", paramLabel = "N", description = "Only this shard (default: all).")
  private Integer shard;

  @Option(
      names = "--force",
      description =
          "Also while consumers own the shards: they let go of them first, and get them again.")
  private boolean force;

  @Option(names = "--dry-run", description = "Only show what would move where.")
  private boolean dryRun;

  @Override
  public Integer call() {
    try {
      StartAt.parse(to);
    } catch (RefusedException e) {
      throw CommandFailure.usage("--to " + e.getMessage());
    }
    if (shard != null && shard < 0) {
      throw CommandFailure.usage("--shard " + shard + ": shards count from 0");
    }
    JsonObject body = new JsonObject().put("to", to).put("force", force).put("dryRun", dryRun);
    if (topic != null) {
      body.put("topic", topic);
    }
    if (shard != null) {
      body.put("shard", shard);
    }
    JsonObject answer =
        (JsonObject)
            options.api().call("POST", "/api/groups/" + HttpApi.segment(group) + "/offsets", body);
    options.print(answer, GroupResetCommand::table);
    List<JsonObject> pending =
        answer.getJsonArray("shards").stream()
            .map(JsonObject.class::cast)
            .filter(each -> "PENDING".equals(each.getString("state")))
            .toList();
    if (!pending.isEmpty()) {
      throw CommandFailure.failed(
          pending.size()
              + " shards are not reset yet, and are when they are free: see 'group describe "
              + group
              + "'; "
              + waits(pending.get(0)));
    }
    return ExitStatus.DONE;
  }

  private static String waits(JsonObject shard) {
    return shard.getString("topic")
        + "/"
        + shard.getInteger("shard")
        + ": "
        + shard.getString("waitsFor", "no answer yet");
  }

  private static String table(Object answer) {
    JsonArray shards = ((JsonObject) answer).getJsonArray("shards");
    return Table.of("TOPIC topic, SHARD shard, OWNER owner, FROM from, TO to, STATE state", shards)
        .text();
  }
}
