package dev.evenkeel.gateway.http;

import static dev.evenkeel.Futures.await;
import static org.assertj.core.api.Assertions.assertThat;

import dev.evenkeel.Refused;
import dev.evenkeel.Wait;
import dev.evenkeel.api.Permission;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.bus.ClusterInSight;
import dev.evenkeel.bus.LocalObjects;
import dev.evenkeel.gateway.access.Caller;
import dev.evenkeel.gateway.access.Principal;
import dev.evenkeel.protocol.ClusterNode;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two nodes on one event bus. */
class LoginsTest {
  private static final Principal SHOP =
      new Principal("shop", List.of(Permission.parse("produce:orders")));

  private static final List<String> NODES = List.of("n1", "n2", "n3");

  private final AtomicLong now = new AtomicLong(5_000);
  private Vertx vertx;
  private Logins here;
  private Logins there;

  /** Somebody whose user may go away. */
  private static final class Somebody implements Caller {
    private volatile Principal principal;

    Somebody(Principal principal) {
      this.principal = principal;
    }

    @Override
    public boolean needsCheck() {
      return false;
    }

    @Override
    public Future<Void> check(String source) {
      return Future.succeededFuture();
    }

    @Override
    public Principal principal() {
      if (principal == null) {
        throw Refusal.UNAUTHENTICATED.error("removed");
      }
      return principal;
    }
  }

  @BeforeEach
  void open() {
    vertx = Vertx.vertx();
    here = new Logins(vertx, "n1", NODES, now::get);
    there = new Logins(vertx, "n2", NODES, now::get);
    await(here.start());
    await(there.start());
  }

  @AfterEach
  void close() {
    await(vertx.close());
  }

  @Test
  void aNodeThatHasLeftIsNotAsked() {
    String id = logIn(there, SHOP);
    assertThat(who(here, id)).isEqualTo(SHOP);
    ClusterNode left = new ClusterNode("n1", "127.0.0.1", 5_701, "", ClusterNode.State.MEMBER);
    LocalObjects.put(vertx, ClusterInSight.class, new ClusterInSight(() -> 1, () -> List.of(left)));
    assertEnded(here, id);
  }

  /** All on one event loop, as they are used. */
  private <T> T on(Callable<T> call) {
    CompletableFuture<T> done = new CompletableFuture<>();
    vertx.runOnContext(
        none -> {
          try {
            done.complete(call.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return await(done);
  }

  private String logIn(Logins at, Principal principal) {
    return on(() -> at.open(new Somebody(principal), principal));
  }

  private Principal who(Logins at, String id) {
    return who(on(() -> at.caller(id)));
  }

  private Principal who(Caller caller) {
    if (on(caller::needsCheck)) {
      await(on(() -> caller.check("")));
    }
    return on(caller::principal);
  }

  private void assertEnded(Logins at, String id) {
    Refused.with(Refusal.UNAUTHENTICATED, () -> who(at, id));
  }

  @Test
  void whoHasLoggedInAtOneNodeIsKnownAtTheOthers() {
    String id = logIn(here, SHOP);
    assertThat(id).matches("n1\\.[\\w-]{43}");
    assertThat(who(here, id)).isEqualTo(SHOP);
    assertThat(who(there, id)).isEqualTo(SHOP);
    await(on(() -> there.end(id, "")));
    assertEnded(here, id);
    assertEnded(there, id);
    assertThat(on(here::count)).isZero();
  }

  @Test
  void idsAreTheirOwn() {
    Set<String> ids = new HashSet<>();
    for (int i = 0; i < 500; i++) {
      ids.add(logIn(here, SHOP));
    }
    assertThat(ids).hasSize(500);
  }

  @Test
  void whoIsRemovedIsLoggedOutEverywhere() {
    Somebody somebody = new Somebody(SHOP);
    String id = on(() -> here.open(somebody, SHOP));
    Caller watching = on(() -> there.caller(id));
    assertThat(who(watching)).isEqualTo(SHOP);
    somebody.principal = new Principal("shop", List.of(Permission.parse("view:*")));
    assertThat(who(here, id).may()).hasToString("[view:*]");
    now.addAndGet(Logins.FRESH_MILLIS);
    assertThat(who(watching).may()).hasToString("[view:*]");
    somebody.principal = null;
    assertThat(who(watching)).as("for a second").isNotNull();
    now.addAndGet(Logins.FRESH_MILLIS);
    // It asks for nothing, as the live view does, and learns of it.
    Wait.until(
        () -> {
          try {
            on(watching::principal);
            return false;
          } catch (RefusedException e) {
            return e.refusal() == Refusal.UNAUTHENTICATED;
          }
        });
    assertEnded(here, id);
    assertEnded(there, id);
    assertThat(on(here::count)).isZero();
  }

  @Test
  void aLogInEndsWhenNobodyUsesItAndAtLastInAnyCase() {
    String idle = logIn(here, SHOP);
    String used = logIn(here, SHOP);
    long step = Logins.IDLE_MILLIS_MAX - 1;
    now.addAndGet(step);
    assertThat(who(there, used)).isEqualTo(SHOP);
    now.addAndGet(1);
    assertEnded(here, idle);
    assertThat(who(here, used)).isEqualTo(SHOP);
    for (long passed = Logins.IDLE_MILLIS_MAX; passed + step < Logins.MILLIS_MAX; passed += step) {
      now.addAndGet(step);
      assertThat(who(here, used)).isEqualTo(SHOP);
    }
    now.addAndGet(step);
    assertEnded(here, used);
    String last = logIn(here, SHOP);
    now.addAndGet(Logins.IDLE_MILLIS_MAX);
    on(
        () -> {
          here.sweep();
          return null;
        });
    assertThat(on(here::count)).isZero();
    assertEnded(here, last);
  }

  @Test
  void whatNobodyHasGivenIsNoLogIn() {
    String id = logIn(here, SHOP);
    for (String other :
        List.of(
            "",
            "n1",
            "n1.",
            id + "x",
            id.substring(0, id.length() - 1),
            id.substring(0, id.length() - 2) + "--",
            id.replace("n1.", "n2."),
            id.replace("n1.", "n3."),
            id.replace("n1.", "n4."),
            id.replace("n1.", "../"),
            "ek_00000000_" + "0".repeat(64))) {
      assertEnded(here, other);
      await(on(() -> here.end(other, "")));
    }
    assertThat(who(here, id)).isEqualTo(SHOP);
  }

  @Test
  void aNodeThatHangsEndsNothing() {
    vertx.eventBus().consumer(Addresses.logins("n3"), message -> {});
    String id = logIn(here, SHOP).replace("n1.", "n3.");
    Refused.with(Refusal.UNAVAILABLE, () -> who(there, id), "'n3'");
  }

  /** The questions of somebody who invents ids wait for a node that hangs. */
  @Test
  void whoeverInventsIdsLeavesRoomForQuestionsOfOthers() {
    vertx.eventBus().consumer(Addresses.logins("n3"), message -> {});
    String id = logIn(here, SHOP);
    String invented = id.replace("n1.", "n3.");
    for (int i = 0; i < 300; i++) {
      on(
          () -> {
            there.caller(invented).check("stranger");
            return null;
          });
    }
    Caller caller = on(() -> there.caller(id));
    await(on(() -> caller.check("browser")));
    assertThat(on(caller::principal)).isEqualTo(SHOP);
  }

  @Test
  void oneUserLeavesRoomForOthersAndEndsItsOwnLogIns() {
    String first = logIn(here, SHOP);
    String second = logIn(here, SHOP);
    String other = logIn(here, new Principal("other", List.of()));
    for (int i = 0; i < 3_000; i++) {
      logIn(here, SHOP);
    }
    assertThat(on(here::count)).isLessThanOrEqualTo(1_002);
    assertEnded(here, first);
    assertEnded(here, second);
    assertThat(who(here, other).name()).isEqualTo("other");
    logIn(here, new Principal("third", List.of()));
  }

  @Test
  void anotherNodeLearnsNoToken() {
    String id = logIn(here, SHOP);
    JsonObject answer =
        await(
                vertx
                    .eventBus()
                    .<JsonObject>request(Addresses.logins("n1"), new JsonObject().put("of", id)))
            .body();
    assertThat(answer)
        .isEqualTo(new JsonObject().put("user", "shop").put("may", JsonArray.of("produce:orders")));
  }
}
