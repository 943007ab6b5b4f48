package dev.evenkeel.cli;

import ch.qos.logback.classic.PatternLayout;
import ch.qos.logback.classic.spi.ILoggingEvent;

/**
 * Writes a log event. Control characters in messages and errors, which may come from clients, are
 * escapes: nobody outside can forge a line of the log, or send commands to the terminal that shows
 * it.
 */
public final class LogLayout extends PatternLayout {
  @Override
  public String doLayout(ILoggingEvent event) {
    String text = super.doLayout(event);
    String message = event.getFormattedMessage();
    String shown = Terminal.visible(message);
    if (message != null && !message.equals(shown)) {
      text = text.replace(message, shown);
    }
    StringBuilder out = new StringBuilder(text.length());
    text.chars()
        .forEach(
            c ->
                out.append(
                    Character.isISOControl(c) && c != '\n' && c != '\t'
                        ? Terminal.visible(Character.toString(c))
                        : Character.toString(c)));
    return out.toString();
  }
}
