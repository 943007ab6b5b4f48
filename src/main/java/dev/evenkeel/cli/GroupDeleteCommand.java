package dev.evenkeel.cli;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code evenkeel group delete}. */
@Command(
    name = "delete",
    mixinStandardHelpOptions = true,
    description = {
      "Deletes a group, or a topic that the group reads no more, with committed offsets, state,"
          + " retries and dead letters there.",
      "It is refused while a member reads it. Messages that no other group needs go with the next"
          + " retention."
    },
    footer = {
      "",
      "Examples:",
      "  evenkeel group delete billing --dry-run",
      "  evenkeel group delete billing --topic old-orders",
      "  evenkeel group delete billing"
    })
final class GroupDeleteCommand implements Callable<Integer> {
  @Mixin private ApiOptions options;

  @Parameters(paramLabel = "GROUP", description = "Name of the group.")
  private String group;

  @Option(
      names = "--topic",
      paramLabel = "TOPIC",
      description = "Delete only this topic from the group (default: the whole group).")
  private String topic;

  @Option(names = "--dry-run", description = "Only show what would be deleted.")
  private boolean dryRun;

  @Override
  public Integer call() {
    String query = "?dryRun=" + dryRun + (topic == null ? "" : "&topic=" + HttpApi.segment(topic));
    Object answer =
        options.api().call("DELETE", "/api/groups/" + HttpApi.segment(group) + query, null);
    return options.print(answer, each -> text((JsonObject) each));
  }

  private String text(JsonObject answer) {
    JsonArray shards = answer.getJsonArray("shards");
    String table =
        Table.of(
                "TOPIC topic, SHARD shard, COMMITTED committed, END end, LAG lag, "
                    + "DEAD LETTERS deadLetters, RETRIES retries, BYTES FREED bytesFreed",
                shards)
            .text();
    String what = topic == null ? "group " + group : "topic " + topic + " of group " + group;
    if (!dryRun) {
      return table + "deleted " + what + "\n";
    }
    String refused = answer.getString("refused");
    return table
        + (refused == null
            ? "nothing was changed: without --dry-run, " + what + " is deleted\n"
            : "nothing was changed, and now it would be refused: " + refused + "\n");
  }
}
