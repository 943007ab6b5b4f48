package dev.evenkeel.functional;

import static dev.evenkeel.Words.words;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import dev.evenkeel.TestUsers;
import dev.evenkeel.Wait;
import dev.evenkeel.cli.CommandInJvm;
import dev.evenkeel.gateway.page.Axe;
import dev.evenkeel.gateway.page.Browsers;
import dev.evenkeel.gateway.page.Visit;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An operator does everything that the live page offers, another one sees it without asking, and
 * the audit log has it. Whoever may not do it cannot, whatever a browser is made to send.
 */
@Timeout(600)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperatorPageIT {
  private static final String GROUP = "billing";
  private static final HttpClient HTTP = HttpClient.newHttpClient();

  @TempDir static Path directory;
  private Path users;
  private Node node;

  private record Request(String method, String path, String body) {}

  @BeforeAll
  void start() throws Exception {
    users = directory.resolve("users.json");
    String everything = "view:*,admin:*,produce:*,consume:*,group:*";
    add("operator", everything);
    add("deputy", everything);
    add("viewer", "view:*");
    add("trainee", "view:*");
    node = new Node(directory.resolve("node")).with("--users", users.toString()).start();
  }

  @AfterAll
  void stop() {
    node.close();
  }

  /** The token goes into a file of that name. */
  private void add(String name, String may) throws IOException {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status = CommandInJvm.run(out, err, "user", "add", users.toString(), name, "--may", may);
    assertThat(status).as(err.toString()).isZero();
    Files.writeString(directory.resolve(name), out.toString());
  }

  private String token(String user) throws IOException {
    return Files.readString(directory.resolve(user)).strip();
  }

  private String tokenFile() {
    return directory.resolve("operator").toString();
  }

  private Visit logIn(Browsers browsers, ColorScheme scheme, String user) throws IOException {
    Visit visit = new Visit(browsers.browser(), scheme, node.url());
    visit.page().getByLabel("Token of a user").fill(token(user));
    visit.page().keyboard().press("Enter");
    visit.seesLive();
    return visit;
  }

  private void go(Visit visit, String address) {
    visit.page().navigate(node.url() + "/#" + address);
  }

  private static void fill(Visit visit, String label, String text) {
    visit.dialog().getByLabel(label, new Locator.GetByLabelOptions().setExact(true)).fill(text);
  }

  private static void press(Visit visit, String key) {
    visit.page().keyboard().press(key);
  }

  /** When the last action was begun. */
  private static long begunNanos;

  /** What the other operator sees then. How long it took is only told. */
  private static void told(String what) {
    System.out.println(
        "the other operator sees "
            + what
            + " within "
            + (System.nanoTime() - begunNanos) / 1_000_000
            + " ms");
  }

  /** The effect is shown, and perhaps a name must be typed; then it is done, by the keyboard. */
  private static void confirm(Visit visit, String effect, String typed, String result) {
    visit.reads(visit.dialog(), effect);
    if (typed != null) {
      visit.page().keyboard().type(typed);
    }
    begunNanos = System.nanoTime();
    press(visit, "Enter");
    visit.reads(visit.dialog(), result);
    press(visit, "Escape");
    visit.seesNoMore(visit.dialog());
  }

  @Test
  void whatOneOperatorDoesTheOtherSees() throws Exception {
    TestUsers.assumeNone("the page would ask for a token, which other tests give it");
    try (Browsers browsers = Browsers.start();
        Visit one = logIn(browsers, ColorScheme.DARK, "operator");
        Visit other = logIn(browsers, ColorScheme.LIGHT, "deputy")) {
      go(one, "/topics");
      go(other, "/topics");
      one.button("Create a topic").click();
      fill(one, "Name", "orders");
      fill(one, "Shards", "2");
      press(one, "Enter");
      confirm(one, "Creates the topic orders with 2 shards.", null, "orders has 2 shards.");
      other.reads(other.table("Topics"), "orders");
      told("a new topic");

      go(other, "/topics/orders/messages?follow=true");
      other.sees(other.page().getByText("Waiting for new messages …"));
      go(one, "/topics/orders");
      one.button("Send a message").click();
      fill(one, "Key", "k1");
      fill(one, "Payload", "{\"n\":1}");
      fill(one, "Headers", "source=page");
      one.button("Show what it does").click();
      one.reads(one.dialog(), "Sends one message of 7 B with the key k1 to orders.");
      press(one, "Enter");
      one.reads(one.dialog(), "offset 0.");
      one.dialog().getByText("Show it").click();
      one.page().locator("summary").click();
      one.reads(one.page().locator("details"), "{\n  \"n\": 1\n}");
      one.reads(one.page().locator("details"), "sourcepage");
      Axe.assertNothingSerious(one.page());
      other.sees(other.page().getByText("{\"n\":1}"));

      // Nodes do not unpack batches for consumers, but for the page.
      List<String> lines = IntStream.range(0, 50).mapToObj(i -> "line " + i + " of many").toList();
      Path file = Files.write(directory.resolve("lines"), lines);
      Jar.Result packed =
          node.produce(
                  "packed", file, "orders", "--compression", "zstd", "--token-file", tokenFile())
              .await();
      assertThat(packed.status()).as(packed.err()).isZero();
      other.sees(other.page().getByText("line 49 of many"));

      failSome(one, other);
      changeTheGroup(one, other);
      changeTheTopic(one, other);

      go(one, "/cluster");
      one.button("Drain n1").click();
      one.reads(one.dialog(), "It is the only node: nobody could take its data.");
      press(one, "Escape");
      assertThat(one.errors()).isEmpty();
      assertThat(other.errors()).isEmpty();
    }
    assertAudited(
        "produce topic=orders",
        "topics create name=orders shards=2",
        "groups pause group=billing",
        "groups resume group=billing",
        "groups pause group=billing topic=orders shard=0",
        "groups drop group=billing deadLetters=",
        "groups replay group=billing all=true",
        "groups reset group=billing to=earliest",
        "groups reset group=billing to=latest",
        "groups delete group=billing",
        "topics configure name=orders retentionMillis=3600000",
        "topics reshard name=orders shards=3",
        "topics delete name=orders");
  }

  /** Five of the lines become dead letters. */
  private void failSome(Visit one, Visit other) {
    String work = "read -r line; case \"$line\" in *7*) exit 1;; esac";
    try (Jar.Running consumer =
        node.consume(
            "amber",
            "orders",
            GROUP,
            words(
                "--token-file %s --retry-delays 10ms --order none --exec %s", tokenFile(), work))) {
      go(one, "/groups/billing/failures");
      go(other, "/groups/billing/failures");
      other.reads(other.region("Dead letters"), "5 of 5");
      one.reads(one.region("Dead letters"), "5 of 5");
      other.page().locator("summary").first().click();
      other.reads(other.page().locator("details").first(), "ended with exit status 1");
      Axe.assertNothingSerious(other.page());
      go(other, "/cluster");
      other.reads(other.table("What users hold"), Pattern.compile("operatorlistening\\S*\\d"));
      Axe.assertNothingSerious(other.page());
      go(other, "/groups/billing/failures");

      one.button("Pause").click();
      confirm(one, "1 member of billing get", null, "Paused the group billing.");
      other.sees(other.button("Resume"));
      one.button("Resume").click();
      confirm(one, "again at once", null, "Resumed the group billing.");
      other.seesNoMore(other.button("Resume"));
      other.sees(other.button("Pause"));
      assertThat(consumer.stop().status()).isZero();
    }
    one.page().locator(".letter input").first().check();
    one.button("Drop 1").click();
    confirm(one, "Deletes 1 dead letter of billing for good.", GROUP, "Dropped 1 dead letter.");
    other.reads(other.region("Dead letters"), "4 of 4");
    one.button("Replay all").click();
    confirm(one, "Gives 4 dead letters to billing again", null, "Replayed 4 dead letters.");
    other.reads(other.region("Dead letters"), "There are no dead letters.");
    // Nobody is there to try them.
    other.reads(
        other.table("Waiting for another attempt"),
        Pattern.compile("orders/[01]/\\d+for its next attempt0"));
  }

  private void changeTheGroup(Visit one, Visit other) {
    go(one, "/groups/billing");
    go(other, "/groups/billing");
    one.button("Reset offsets").click();
    one.button("Show what it does").click();
    confirm(one, "It gets 51 messages again.", null, "Reset 2 shards of billing.");
    other.sees(other.page().getByText("lag51"));
    told("a reset");
    one.button("Reset offsets").click();
    one.page().getByLabel("Go to").selectOption("latest");
    one.button("Show what it does").click();
    confirm(one, "billing skips 51 messages", GROUP, "Reset 2 shards of billing.");
    other.seesNoMore(other.page().getByText("lag51"));
    one.shard("orders/0").click();
    one.button("Pause this shard").click();
    confirm(
        one,
        "no new messages of the shard orders/0",
        null,
        "Paused the shard orders/0 for billing.");
    other.sees(other.button("Resume all"));
    told("a pause");
    one.button("Delete").click();
    confirm(one, "Deletes the positions of billing", GROUP, "The group billing is deleted.");
    other.sees(other.page().getByText("There is no group “billing” now."));
    told("that a group is deleted");
  }

  private void changeTheTopic(Visit one, Visit other) {
    go(one, "/topics/orders");
    go(other, "/topics/orders");
    one.button("Change settings").click();
    fill(one, "Retention", "1h");
    press(one, "Enter");
    confirm(one, "Retention1d1h", "orders", "The topic orders has other settings now.");
    other.reads(other.region("Settings"), "60 min");
    one.button("Reshard").click();
    fill(one, "Shards", "3");
    press(one, "Enter");
    confirm(one, "Producers write to 3 new shards.", null, "write to 3 shards of orders now.");
    other.sees(other.page().getByText("shards3"));
    one.button("Delete").click();
    confirm(one, "Deletes the topic with all its 51 messages", "orders", "orders is deleted.");
    other.sees(other.page().getByText("There is no topic “orders” now."));
  }

  private void assertAudited(String... acts) {
    Path audit = node.directory.resolve("data/audit/audit.jsonl");
    Wait.untilAsserted(
        "the audit log",
        30,
        () -> {
          List<String> done =
              Files.readAllLines(audit).stream()
                  .map(JsonObject::new)
                  .filter(line -> line.getString("outcome").equals("done"))
                  .filter(line -> "operator".equals(line.getString("user")))
                  .map(line -> line.getString("action"))
                  .toList();
          for (String act : acts) {
            assertThat(done).anyMatch(each -> each.startsWith(act));
          }
        });
  }

  /** Every request of the API that changes something, as its description shows it. */
  private List<Request> changes() throws Exception {
    JsonObject paths =
        new JsonObject(
                HTTP.send(
                        TestUsers.request(URI.create(node.url() + "/openapi.json")).build(),
                        HttpResponse.BodyHandlers.ofString())
                    .body())
            .getJsonObject("paths");
    List<Request> requests = new ArrayList<>();
    for (String path : paths.fieldNames()) {
      for (String method : List.of("post", "put", "patch", "delete")) {
        JsonObject operation = paths.getJsonObject(path).getJsonObject(method);
        // A plan changes nothing.
        boolean harmless = path.equals("/api/session") || path.endsWith("/plan");
        if (operation != null && !harmless) {
          requests.add(new Request(method.toUpperCase(), filled(path), body(operation)));
        }
      }
    }
    return requests;
  }

  private static String filled(String path) {
    return path.replace("{topic}", "kept")
        .replace("{kind}", "topic")
        .replace("{name}", "kept")
        .replace("{node}", "n1")
        .replaceAll("\\{\\w+}", "x");
  }

  private static String body(JsonObject operation) {
    JsonObject content =
        operation
            .getJsonObject("requestBody", new JsonObject())
            .getJsonObject("content", new JsonObject())
            .getJsonObject("application/json");
    if (content == null) {
      return null;
    }
    JsonObject examples = content.getJsonObject("examples");
    Object example =
        examples == null
            ? content.getValue("example")
            : examples.getJsonObject(examples.fieldNames().iterator().next()).getValue("value");
    return example instanceof JsonArray list
        ? list.encode()
        : ((JsonObject) example).encode().replace("\"orders\"", "\"kept\"");
  }

  private int send(Request request, String... headers) throws Exception {
    HttpRequest.Builder builder =
        TestUsers.request(URI.create(node.url() + request.path()))
            .method(
                request.method(),
                request.body() == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(request.body()));
    List<String> all = new ArrayList<>(List.of(headers));
    if (request.body() != null && !all.contains("content-type")) {
      all.addAll(List.of("content-type", "application/json"));
    }
    builder.headers(all.toArray(String[]::new));
    return HTTP.send(builder.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
  }

  /** The cookie of a browser that has logged in. */
  private String logIn(String user) throws Exception {
    JsonObject token = new JsonObject().put("token", token(user));
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(node.url() + "/api/session"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(token.encode()))
            .build();
    HttpResponse<String> entered = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(entered.statusCode()).as(entered.body()).isEqualTo(200);
    String cookie = entered.headers().firstValue("set-cookie").orElseThrow();
    assertThat(cookie).startsWith("evenkeel-session=").doesNotContain(token(user), "Secure");
    return cookie.substring(0, cookie.indexOf(';'));
  }

  @Test
  void nobodyActsWithoutPermissionWhateverABrowserSends() throws Exception {
    TestUsers.assumeNone("it has users of its own");
    String operator = "Bearer " + token("operator");
    Request create = new Request("POST", "/api/topics", "{\"name\":\"kept\",\"shards\":2}");
    Wait.until(() -> send(create, "authorization", operator) == 201);
    String before = topics(operator);
    List<Request> changes = changes();
    assertThat(changes).hasSizeGreaterThan(20);
    String cookie = logIn("operator");
    String viewing = logIn("viewer");
    String own = node.url();
    for (Request each : changes) {
      String what = each.toString();
      assertThat(send(each, "authorization", "Bearer " + token("viewer"), "origin", own))
          .as(what)
          .isEqualTo(403);
      assertThat(send(each, "cookie", viewing, "origin", own)).as(what).isEqualTo(403);
      assertThat(send(each, "origin", own)).as("of nobody: " + what).isEqualTo(401);
      for (String origin :
          List.of(
              "http://evil.example", "null", own + "1", own.replace("127.0.0.1", "127.0.0.2"))) {
        assertThat(send(each, "cookie", cookie, "origin", origin))
            .as("from " + origin + ": " + what)
            .isEqualTo(403);
      }
      assertThat(send(each, "cookie", cookie)).as("without Origin: " + what).isEqualTo(403);
      for (String type : List.of("text/plain", "application/x-www-form-urlencoded")) {
        assertThat(send(each, "cookie", cookie, "origin", own, "content-type", type))
            .as(type + ": " + what)
            .isEqualTo(415);
      }
    }
    assertThat(topics(operator)).isEqualTo(before);
    // The same cookie does it from the page itself.
    Request delete = new Request("DELETE", "/api/topics/kept", null);
    assertThat(send(delete, "cookie", cookie, "origin", own)).isEqualTo(200);
  }

  private String topics(String authorization) throws Exception {
    HttpRequest request =
        TestUsers.request(URI.create(node.url() + "/api/topics"))
            .header("authorization", authorization)
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  @Test
  void whoMayOnlyLookIsOfferedNothingUntilMoreIsAllowed() throws Exception {
    try (Browsers browsers = Browsers.start();
        Visit viewer = logIn(browsers, ColorScheme.DARK, "trainee")) {
      for (String page : List.of("/topics", "/cluster", "/groups", "/")) {
        go(viewer, page);
        viewer.sees(viewer.page().getByRole(AriaRole.HEADING, new GetByRoleOptions().setLevel(1)));
        assertThat(viewer.page().locator("[aria-haspopup=dialog]").count()).as(page).isZero();
      }
      Page page = viewer.page();
      go(viewer, "/topics/any/messages");
      viewer.sees(page.getByText("it needs the permission consume:any"));
      go(viewer, "/topics");
      add("trainee", "view:*,admin:trial-*");
      viewer.sees(viewer.button("Create a topic"));
    }
  }
}
