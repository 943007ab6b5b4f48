package dev.evenkeel.cli;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.LoggingEvent;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What other users write cannot command the terminal of whoever looks at it. */
class TerminalTest {
  private static final String EVIL = "a\u001b[2J\u009b1mü\r\u0007€\u007fb";
  private static final String SHOWN = "a\\x1b[2J\\x9b1mü\\x0d\\x07€\\x7fb";

  @Test
  void payloadsAreShownWithEscapes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    Terminal.escaping(bytes).write((EVIL + "\tx\n").getBytes(StandardCharsets.UTF_8));
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo(SHOWN + "\tx\n");
    bytes.reset();
    byte[] broken = {(byte) 0xC2, (byte) 0xC2, 'x', (byte) 0xFF};
    Terminal.escaping(bytes).write(broken);
    assertThat(bytes.toByteArray()).isEqualTo(broken);
  }

  @Test
  void cellsAndErrorsAreOneLine() {
    assertThat(new Table("HOST").row("a\u001b[2J\nb").text()).contains("a\\x1b[2J\\nb");
    assertThat(Terminal.visible("größe €")).isEqualTo("größe €");
    assertThat(Terminal.visible(null)).isNull();
  }

  @Test
  void nobodyForgesALineOfTheLog() {
    var context = ((Logger) LoggerFactory.getLogger(TerminalTest.class)).getLoggerContext();
    LogLayout layout = new LogLayout();
    layout.setContext(context);
    layout.setPattern("%level - %msg%n");
    layout.start();
    LoggingEvent event =
        new LoggingEvent(
            "",
            context.getLogger("x"),
            Level.WARN,
            "from {}",
            new IllegalStateException("e\u001b[0m"),
            new Object[] {"h\u001b[2J\n12:00:00 INFO forged"});
    assertThat(layout.doLayout(event))
        .startsWith("WARN - from h\\x1b[2J\\n12:00:00 INFO forged\n")
        .doesNotContain("\u001b");
  }
}
