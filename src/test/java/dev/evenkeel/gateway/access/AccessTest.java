package dev.evenkeel.gateway.access;

import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Closing;
import dev.evenkeel.Refused;
import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.LocalUsers;
import dev.evenkeel.bus.meters.Meters;
import dev.evenkeel.gateway.access.Users.User;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.Refusal;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.vertx.core.Vertx;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Users of a file and of the cluster, at times that the test sets. */
class AccessTest {
  private static final Instant NOW = Instant.parse("2026-12-01T00:00:00Z");

  /** What a node knows of the cluster's users. */
  private static final class Kept implements LocalUsers {
    private Object version;
    private List<ClusterUser> all = List.of();

    void set(ClusterUser... users) {
      all = List.of(users);
      version = new Object();
    }

    @Override
    public Object version() {
      return version;
    }

    @Override
    public List<ClusterUser> all() {
      return all;
    }
  }

  @TempDir Path directory;

  @Closing private final Vertx vertx = Vertx.vertx();

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final Token operator = Token.random();
  private final Token shop = Token.random();
  private final Kept kept = new Kept();
  private Instant now = NOW;
  private Path file;
  private Access access;

  @BeforeEach
  void begin() throws Exception {
    file = directory.resolve("users.json");
    write(user("operator", operator, null));
    access =
        new Access(
            vertx,
            file,
            "n1",
            new Meters(vertx, registry, 100).scope("access"),
            () -> now.toEpochMilli());
    access.read();
  }

  private void write(User... users) throws Exception {
    Files.writeString(file, new Users(List.of(users)).text());
  }

  private static User user(String name, Token token, Instant expires) {
    return new User(
        name, List.of(token.digest(expires)), null, 1, List.of(Permission.parse("produce:orders")));
  }

  private static ClusterUser kept(String name, Token token, Instant expires, String... may) {
    return new ClusterUser(name, List.of(token.digest(expires).kept()), null, 2_000, List.of(may));
  }

  private String name(Token token) {
    return access.caller(token.text(), null).principal().name();
  }

  private void refused(Refusal why, Caller caller, String words) {
    Refused.with(why, caller::principal).hasMessageContaining(words);
  }

  private double gauge(String meter) {
    return registry.get(meter).gauge().value();
  }

  @Test
  void usersOfTheClusterComeAndGoForOpenConnections() {
    kept.set(kept("shop", shop, null, "produce:orders"));
    access.look(kept);
    Caller caller = access.caller(shop.text(), null);
    assertThat(caller.principal().name()).isEqualTo("shop");
    assertThat(name(operator)).isEqualTo("operator");
    kept.set(kept("shop", shop, null, "produce:other"));
    access.look(kept);
    assertThat(caller.principal().may()).containsExactly(Permission.parse("produce:other"));
    kept.set();
    access.look(kept);
    refused(Refusal.UNAUTHENTICATED, caller, "is wrong, or was removed");
    Refused.with(Refusal.UNAUTHENTICATED, () -> access.named("shop"));
  }

  /** Else a program would take its token for wrong while a node starts. */
  @Test
  void aNodeThatHasStartedSaysThatItDoesNotKnowYet() {
    kept.all = List.of(kept("shop", shop, null));
    access.look(kept);
    Caller caller = access.caller(shop.text(), null);
    refused(Refusal.UNAVAILABLE, caller, "try again");
    assertThat(name(operator)).isEqualTo("operator");
    refused(Refusal.UNAUTHENTICATED, access.caller("no token", null), "is wrong, or was removed");
    refused(Refusal.UNAUTHENTICATED, access.caller(null, null), "show a token");
    kept.set(kept.all.get(0));
    access.look(kept);
    assertThat(caller.principal().name()).isEqualTo("shop");
    kept.version = null;
    access.look(kept);
    assertThat(caller.principal().name()).as("what was known stays in force").isEqualTo("shop");
  }

  @Test
  void aNameInBothIsThatOfTheFile() throws Exception {
    Token other = Token.random();
    kept.set(kept("operator", other, null, "admin:*"), kept("shop", shop, null));
    access.look(kept);
    refused(Refusal.UNAUTHENTICATED, access.caller(other.text(), null), "is wrong, or was removed");
    assertThat(access.named("operator").may()).containsExactly(Permission.parse("produce:orders"));
    assertThat(name(shop)).isEqualTo("shop");
    write(user("somebody", operator, null));
    access.read();
    assertThat(name(other)).as("no longer in the file").isEqualTo("operator");
    assertThat(name(shop)).isEqualTo("shop");
  }

  @Test
  void anExpiredTokenIsRefusedAndSaysSo() throws Exception {
    Token soon = Token.random();
    write(user("operator", operator, null), user("soon", soon, NOW.plusSeconds(10)));
    access.read();
    kept.set(kept("shop", shop, NOW.plusSeconds(20)));
    access.look(kept);
    Caller ofFile = access.caller(soon.text(), null);
    Caller ofCluster = access.caller(shop.text(), null);
    now = NOW.plusMillis(9_999);
    assertThat(ofFile.principal().name()).isEqualTo("soon");
    now = NOW.plusSeconds(10);
    refused(
        Refusal.UNAUTHENTICATED,
        ofFile,
        "this token expired on 2026-12-01T00:00:10Z: ask for another one");
    assertThat(ofCluster.principal().name()).isEqualTo("shop");
    now = NOW.plusSeconds(20);
    refused(Refusal.UNAUTHENTICATED, ofCluster, "expired on 2026-12-01T00:00:20Z");
    assertThat(access.named("shop").name()).as("the user itself has not expired").isEqualTo("shop");
  }

  @Test
  void metricsCountDownToTheFirstUserWithoutAToken() {
    assertThat(gauge("evenkeel.access.users.expires.seconds")).isNaN();
    Token first = Token.random();
    Token second = Token.random();
    ClusterUser rotated =
        new ClusterUser(
            "rotated",
            List.of(
                first.digest(NOW.plusSeconds(5)).kept(), second.digest(NOW.plusSeconds(90)).kept()),
            null,
            1_000,
            List.of());
    ClusterUser lasting =
        new ClusterUser(
            "lasting",
            List.of(
                Token.random().digest(NOW.plusSeconds(1)).kept(), Token.random().digest().kept()),
            null,
            1_000,
            List.of());
    kept.set(kept("shop", shop, NOW.plusSeconds(60)), rotated, lasting);
    access.look(kept);
    assertThat(gauge("evenkeel.access.users.expires.seconds")).isEqualTo(60);
    assertThat(gauge("evenkeel.access.users.expired")).isZero();
    now = NOW.plusSeconds(60);
    assertThat(gauge("evenkeel.access.users.expires.seconds")).isEqualTo(30);
    assertThat(gauge("evenkeel.access.users.expired")).isEqualTo(1);
    now = NOW.plusSeconds(90);
    assertThat(gauge("evenkeel.access.users.expires.seconds")).isNaN();
    assertThat(gauge("evenkeel.access.users.expired")).isEqualTo(2);
  }

  @Test
  void withoutAFileTheUsersOfTheClusterCountNothing() {
    Access open =
        new Access(
            vertx, null, "n2", new Meters(vertx, registry, 100).scope("open"), now::toEpochMilli);
    kept.set(kept("shop", shop, null));
    open.look(kept);
    assertThat(open.caller(shop.text(), null).principal().bound()).isFalse();
    assertThat(open.caller(null, null).principal().bound()).isFalse();
  }

  /** A later version may know more kinds of permissions than this one. */
  @Test
  void aPermissionThatIsUnknownAllowsNothing() {
    kept.set(kept("shop", shop, null, "fly:high", "view:orders"));
    access.look(kept);
    assertThat(access.named("shop").may()).containsExactly(Permission.parse("view:orders"));
  }

  @Test
  void aFileThatCannotBeUsedIsRefusedBeforeANodeRuns() throws Exception {
    Access.check(file);
    Refused.with(Refusal.INVALID, () -> Access.check(directory.resolve("none")), "'user add'");
    Files.writeString(file, "{");
    Refused.with(Refusal.INVALID, () -> Access.check(file), file.toString());
  }
}
