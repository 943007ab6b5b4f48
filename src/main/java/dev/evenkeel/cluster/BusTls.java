package dev.evenkeel.cluster;

import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Vertx;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.net.TrustOptions;
import java.lang.reflect.Field;

/** Puts TLS, with certificates on both sides, into the clustered event bus of Vert.x. */
final class BusTls {
  private BusTls() {}

  /** Options with which the event bus encrypts, and takes nobody without a certificate. */
  static EventBusOptions encrypted(EventBusOptions options, TlsIdentity identity) {
    TlsFiles files = identity.files();
    return options
        .setSsl(true)
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .setCertPath(files.certificate().toString())
                .setKeyPath(files.key().toString()))
        .setTrustOptions(new PemTrustOptions().addCertPath(files.authorities().toString()))
        .setClientAuth(ClientAuth.REQUIRED)
        // The default of the event bus trusts everybody.
        .setTrustAll(false);
  }

  /**
   * From now on new connections use what is in force in the identity. The event bus takes its
   * options as JSON, in which only names of files survive, and reads these once. Its server and
   * client can change that, but nothing but the event bus has them.
   */
  static void followChanges(Vertx vertx, TlsIdentity identity) {
    KeyCertOptions key = KeyCertOptions.wrap(identity.keyManager());
    TrustOptions trust = TrustOptions.wrap(identity.trustManager());
    Object bus = ((VertxInternal) vertx).eventBus();
    ServerSSLOptions server = new ServerSSLOptions().setClientAuth(ClientAuth.REQUIRED);
    server.setKeyCertOptions(key).setTrustOptions(trust);
    ClientSSLOptions client = new ClientSSLOptions().setHostnameVerificationAlgorithm("");
    client.setTrustAll(false).setKeyCertOptions(key).setTrustOptions(trust);
    field(bus, "server", NetServer.class).updateSSLOptions(server, true);
    field(bus, "client", NetClient.class).updateSSLOptions(client, true);
  }

  private static <T> T field(Object bus, String name, Class<T> type) {
    try {
      Field field = bus.getClass().getDeclaredField(name);
      field.setAccessible(true);
      return type.cast(field.get(bus));
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new IllegalStateException(
          "this version of Vert.x has another event bus than the one that was tested", e);
    }
  }
}
