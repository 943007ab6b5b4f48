package dev.evenkeel.gateway.access;

import static dev.evenkeel.Loops.times;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.evenkeel.bus.meters.Meters;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class AuditLogTest {
  private static final int MANY = 1_000;

  private final Logger logger = (Logger) LoggerFactory.getLogger(AuditLog.LOGGER);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final AtomicLong second = new AtomicLong(7);
  private final Vertx vertx = Vertx.vertx();
  private final AuditLog log = new AuditLog("n1", Meters.of(vertx).scope("test"), second::get);

  @BeforeEach
  void listen() {
    lines.start();
    logger.setLevel(Level.INFO);
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
    logger.setLevel(null);
    vertx.close();
  }

  private List<JsonObject> of(String user) {
    return lines.list.stream()
        .map(line -> new JsonObject(line.getFormattedMessage()))
        .filter(line -> user.equals(line.getString("user")))
        .toList();
  }

  @Test
  void whatOneUserDoesInVainHidesNothingOfAnother() {
    times(MANY, i -> log.denied("bad", "10.0.0.1", "http", "topics delete", "no"));
    times(MANY, i -> log.acted("bad", "10.0.0.1", "http", "topics delete", "failed"));
    log.denied("good", "10.0.0.2", "http", "topics delete", "no");
    log.acted("good", "10.0.0.2", "http", "topics delete", "failed");
    assertThat(of("bad")).hasSize(AuditLog.VAIN_A_SECOND_MAX);
    assertThat(of("good"))
        .extracting(line -> line.getString("outcome"))
        .containsExactly("denied", "failed");
    second.incrementAndGet();
    log.denied("bad", "10.0.0.1", "http", "topics delete", "no");
    assertThat(of("bad").get(AuditLog.VAIN_A_SECOND_MAX).getLong("deniedUnwritten"))
        .isEqualTo(2 * MANY - AuditLog.VAIN_A_SECOND_MAX);
  }

  @Test
  void whatIsDoneIsWrittenWhateverElseTheUserTries() {
    times(MANY, i -> log.denied("admin", "10.0.0.1", "http", "topics delete", "no"));
    times(MANY, i -> log.acted("admin", "10.0.0.1", "http", "topics create", null));
    assertThat(of("admin"))
        .filteredOn(line -> line.getString("outcome").equals("done"))
        .hasSize(MANY);
  }

  @Test
  void usersWithoutNumberShareTheLinesOfStrangers() {
    times(AuditLog.USERS_MAX, i -> log.denied("u" + i, "10.0.0.1", "http", "topics delete", "no"));
    times(MANY, i -> log.denied("more" + i, "10.0.0.1", "http", "topics delete", "no"));
    log.denied("u1", "10.0.0.1", "http", "topics delete", "no");
    assertThat(of("u1")).hasSize(2);
    long written =
        lines.list.stream().filter(line -> line.getMessage().contains("\"user\":\"more")).count();
    assertThat(written).isEqualTo(AuditLog.VAIN_A_SECOND_MAX);
  }

  @Test
  void longTextsAreCutOff() {
    log.denied("bad", "10.0.0.1", "http", "x".repeat(MANY), "y".repeat(MANY));
    JsonObject line = of("bad").get(0);
    assertThat(line.getString("action")).hasSize(AuditLog.TEXT_CHARS_MAX + 1);
    assertThat(line.getString("reason")).hasSize(AuditLog.TEXT_CHARS_MAX + 1);
  }
}
