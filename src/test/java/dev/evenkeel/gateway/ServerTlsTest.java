package dev.evenkeel.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.evenkeel.TestCertificates;
import dev.evenkeel.util.tls.TlsFiles;
import dev.evenkeel.util.tls.TlsIdentity;
import io.vertx.core.Vertx;
import io.vertx.junit5.VertxExtension;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

@ExtendWith(VertxExtension.class)
class ServerTlsTest {
  @Test
  void onlyFailuresOfTlsAreLoggedAndOneAMinuteAndSource(Vertx vertx) throws Exception {
    TlsFiles files = TlsFiles.in(TestCertificates.OURS.resolve("clients"));
    Logger logger = (Logger) LoggerFactory.getLogger(ServerTls.class);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    logger.setLevel(Level.WARN);
    logger.addAppender(logged);
    try {
      ServerTls tls = ServerTls.watch(vertx, "http", TlsIdentity.open(files));
      tls.handshakeFailed("10.0.0.1", new IllegalArgumentException("no colon in a header"));
      for (int i = 0; i < 5; i++) {
        tls.handshakeFailed(
            "10.0.0." + i % 2, new Exception(new SSLHandshakeException("no cipher")));
      }
      tls.close();
    } finally {
      logger.detachAppender(logged);
      logger.setLevel(null);
    }
    assertThat(logged.list)
        .extracting(ILoggingEvent::getFormattedMessage)
        .containsExactly(
            "http: a connection from 10.0.0.0 has not begun TLS: no cipher",
            "http: a connection from 10.0.0.1 has not begun TLS: no cipher");
  }
}
