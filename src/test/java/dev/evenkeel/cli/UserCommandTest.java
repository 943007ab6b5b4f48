package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import dev.evenkeel.Closing;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code user} on a file, and against a node that has users in its file and in the cluster. */
class UserCommandTest {
  private static final String TOKEN = "ek_[0-9a-f]{8}_[0-9a-f]{64}\n";

  @TempDir Path directory;

  private final List<String> changes = new ArrayList<>();
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private int tokenStatus = 201;

  @Closing private final StubApi api = new StubApi("/api/users", this::answer);

  private static JsonObject user(String name, String source, boolean hidden, String expires) {
    return new JsonObject()
        .put("name", name)
        .put("source", source)
        .put("hidden", hidden)
        .put("tokens", new JsonArray().add(JsonObject.of("id", "1c0ffee2", "expires", expires)))
        .put("certificate", null)
        .put("share", 1.0)
        .put("may", new JsonArray().add("produce:orders"));
  }

  private void answer(HttpExchange exchange) throws IOException {
    if (exchange.getRequestMethod().equals("GET")) {
      StubApi.answer(
          exchange,
          200,
          new JsonArray()
              .add(user("operator", "file", false, null))
              .add(user("operator", "cluster", true, "2099-01-01T00:00:00Z"))
              .add(user("shop", "cluster", false, "2020-01-01T00:00:00Z")));
      return;
    }
    String change = StubApi.read(exchange);
    changes.add(change);
    boolean token = change.startsWith("POST");
    StubApi.answer(
        exchange,
        token ? tokenStatus : 200,
        token && tokenStatus != 201
            ? JsonObject.of("error", "UNAVAILABLE", "message", "no leader")
            : token
                ? JsonObject.of("name", "n", "id", "1c0ffee3", "token", "ek_x", "expires", null)
                : new JsonObject());
  }

  private String kept(int status, String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    assertThat(api.run(out, err, "user", args)).as("%s", err).isEqualTo(status);
    return status == 0 ? out.toString() : err.toString();
  }

  private String inFile(int status, String... args) {
    out.getBuffer().setLength(0);
    err.getBuffer().setLength(0);
    List<String> all = new ArrayList<>(List.of("user"));
    all.addAll(List.of(args));
    assertThat(CommandInJvm.run(out, err, all.toArray(String[]::new)))
        .as("%s", err)
        .isEqualTo(status);
    return status == 0 ? out.toString() : err.toString();
  }

  @Test
  void addsAndChangesUsersOfTheCluster() {
    assertThat(kept(0, "add", "bank", "--may", "view:a,view:b")).isEqualTo("ek_x\n");
    assertThat(kept(0, "add", "shop")).isEqualTo("ek_x\n");
    assertThat(kept(0, "add", "shop", "--may", "view:a", "--share", "2")).isEmpty();
    assertThat(kept(0, "add", "cert", "--certificate", "cn")).isEmpty();
    assertThat(kept(0, "token", "shop", "--expires", "90d")).isEqualTo("ek_x\n");
    assertThat(kept(0, "remove", "shop", "--token", "1c0ffee2")).isEmpty();
    assertThat(kept(0, "remove", "shop")).isEmpty();
    assertThat(changes)
        .containsExactly(
            "PUT /api/users/bank {\"may\":[\"view:a\",\"view:b\"]}",
            "POST /api/users/bank/tokens {}",
            "POST /api/users/shop/tokens {}",
            "PUT /api/users/shop {\"may\":[\"view:a\"],\"share\":2.0}",
            "PUT /api/users/cert {\"certificate\":\"cn\"}",
            "POST /api/users/shop/tokens {\"expires\":\"90d\"}",
            "DELETE /api/users/shop/tokens/1c0ffee2 ",
            "DELETE /api/users/shop ");
    // The one in the file is not what the command is about.
    changes.clear();
    assertThat(err.toString()).isEmpty();
    assertThat(kept(0, "add", "operator", "--format", "json")).contains("\"token\" : \"ek_x\"");
    assertThat(err.toString()).contains("'operator', which counts until it is removed there");
    assertThat(changes).containsExactly("POST /api/users/operator/tokens {}");
  }

  @Test
  void saysIfAUserIsThereWithoutItsToken() {
    tokenStatus = 503;
    assertThat(kept(1, "add", "bank", "--may", "view:a"))
        .contains("the user 'bank' is there, but has no new token: no leader", "'user token'");
  }

  @Test
  void listsUsersWithTheEndOfTheirTokens() {
    assertThat(kept(0, "list"))
        .isEqualTo(
            """
            user      tokens                                   certificate  share  may             source
            operator  1c0ffee2                                 -            1      produce:orders  file
            operator  1c0ffee2 (until 2099-01-01T00:00:00Z)    -            1      produce:orders  cluster, hidden by the file
            shop      1c0ffee2 (expired 2020-01-01T00:00:00Z)  -            1      produce:orders  cluster
            """);
    assertThat(new JsonArray(kept(0, "list", "--format", "json"))).hasSize(3);
  }

  @Test
  void saysWhatWouldBeRight() {
    String file = directory.resolve("users.json").toString();
    assertThat(kept(2, "add", file, "shop")).contains("leave out '" + file + "'");
    assertThat(kept(2, "list", file)).contains("leave out '" + file + "'");
    assertThat(kept(2, "remove")).contains("the name of the user is missing");
    assertThat(kept(2, "add", "shop", "--may", "view:a", "--expires", "9d")).contains("user token");
    assertThat(kept(2, "add", "c", "--certificate", "c", "--expires", "9d"))
        .contains("leave one out");
    assertThat(changes).isEmpty();
    assertThat(inFile(2, "add", file)).contains("FILE NAME", "NAME --http URL");
    assertThat(inFile(2, "list")).contains("--http URL");
    assertThat(inFile(2, "list", file, "--token-file", "t")).contains("name it with --http URL");
    assertThat(inFile(1, "list", file)).contains("'user add' makes it");
    assertThat(inFile(2, "add", file, "shop", "--expires", "soon")).contains("such as 90d");
    assertThat(inFile(2, "add", file, "shop", "--may", "fly:high")).contains("KIND:NAME");
    assertThat(Path.of(file)).doesNotExist();
  }

  @Test
  void changesUsersInAFile() throws Exception {
    String file = directory.resolve("users.json").toString();
    assertThat(inFile(0, "add", file, "shop", "--may", "view:a")).matches(TOKEN);
    assertThat(inFile(0, "add", file, "shop", "--expires", "2099-01-01")).matches(TOKEN);
    assertThat(inFile(0, "add", file, "shop", "--may", "view:b")).isEmpty();
    assertThat(err.toString()).contains("changed 'shop', which keeps its tokens");
    assertThat(inFile(0, "token", file, "shop")).matches(TOKEN);
    assertThat(inFile(1, "token", file, "bank")).contains("there is no user 'bank'");
    assertThat(inFile(0, "list", file))
        .contains(" (until 2099-01-01T00:00:00Z),", "view:b")
        .doesNotContain("source", "view:a");
    String id =
        new JsonArray(inFile(0, "list", file, "--format", "json"))
            .getJsonObject(0)
            .getJsonArray("tokens")
            .getJsonObject(0)
            .getString("id");
    assertThat(inFile(0, "remove", file, "shop", "--token", id)).isEmpty();
    assertThat(Files.readString(Path.of(file))).doesNotContain(id).contains("\"expires\"");
    assertThat(inFile(1, "remove", file, "shop", "--token", id)).contains("has no token");
    assertThat(inFile(0, "remove", file, "shop")).isEmpty();
    assertThat(inFile(1, "remove", file, "shop")).contains("there is no user 'shop'");
  }
}
