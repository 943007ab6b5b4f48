package dev.evenkeel.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.spi.cluster.RegistrationListener;
import io.vertx.core.spi.cluster.RegistrationUpdateEvent;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Vert.x never goes on to remember what an older member list said of an address. */
class AskedAddressesTest {
  private final AskedAddresses asked = new AskedAddresses();
  private final Remembering vertx = new Remembering();

  /**
   * Behaves like Vert.x: it asks for addresses that it does not know, and forgets them on request.
   */
  private class Remembering implements RegistrationListener {
    final Set<String> remembered = new HashSet<>();
    String asksMeanwhile;

    void send(String address) {
      if (remembered.add(address)) {
        asked.add(address);
      }
    }

    @Override
    public boolean wantsUpdatesFor(String address) {
      boolean wanted = remembered.contains(address);
      if (address.equals(asksMeanwhile)) {
        asksMeanwhile = null;
        send(address);
      }
      return wanted;
    }

    @Override
    public void registrationsUpdated(RegistrationUpdateEvent event) {
      assertThat(event.registrations()).isEmpty();
      remembered.remove(event.address());
    }

    @Override
    public void registrationsLost() {}
  }

  @Test
  void aChangeOfTheListMakesItForgetEverything() {
    vertx.send("a");
    vertx.send("b");
    asked.forgetOutdated(vertx);
    assertThat(vertx.remembered).containsExactlyInAnyOrder("a", "b");
    asked.listChanged();
    asked.forgetOutdated(vertx);
    assertThat(vertx.remembered).isEmpty();
    vertx.send("a");
    asked.forgetOutdated(vertx);
    assertThat(vertx.remembered).containsExactly("a");
  }

  @Test
  void whatItDoesNotRememberIsNotKept() {
    vertx.send("a");
    vertx.remembered.clear();
    asked.forgetOutdated(vertx);
    assertThat(asked.size()).isZero();
  }

  @Test
  void whatIsAskedForDuringALookIsForgottenWithTheNextList() {
    asked.add("a");
    vertx.asksMeanwhile = "a";
    asked.forgetOutdated(vertx);
    asked.listChanged();
    asked.forgetOutdated(vertx);
    assertThat(vertx.remembered).isEmpty();
  }
}
