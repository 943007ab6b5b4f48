package dev.evenkeel.api;

import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The sections of the page about JSON over the event bus, each with its table of requests. */
public final class EventBusPage {
  static final Path PAGE = Path.of("src/site/markdown/http/event-bus.md");

  private static final Pattern ADDRESS = Pattern.compile("The address is `([\\w.]+)`");
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private EventBusPage() {}

  /** The requests to one address, in the order of the page. */
  public record Section(String address, List<Row> rows) {
    @Override
    public String toString() {
      return address;
    }
  }

  /**
   * One request, as the page shows it.
   *
   * @param request a JSON object or array
   * @param headers of the event-bus message
   * @param answer JSON in which {@code ...} stands for more fields or items
   */
  public record Row(String address, Object request, Map<String, String> headers, String answer) {
    /** A copy that may be changed. */
    public JsonObject object() {
      return ((JsonObject) request).copy();
    }

    /** Empty: the address has one operation only. */
    public String action() {
      return request instanceof JsonObject object ? object.getString(Operation.ACTION, "") : "";
    }

    /** The address with the action. */
    public String name() {
      return (address + " " + action()).strip();
    }
  }

  public static List<Section> sections() {
    try {
      return sections(Files.readString(PAGE));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<Section> sections(String page) {
    List<Section> sections = new ArrayList<>();
    for (String section : page.split("\n##+ ")) {
      Matcher address = ADDRESS.matcher(section);
      if (address.find()) {
        List<Row> rows =
            section
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> row(address.group(1), line))
                .toList();
        sections.add(new Section(address.group(1), rows));
      }
    }
    return sections;
  }

  private static Row row(String address, String line) {
    String[] cells = line.split(" \\| ");
    List<String> asked = codes(cells[0]);
    Map<String, String> headers = new HashMap<>();
    for (String header : asked.subList(1, asked.size())) {
      String[] parts = header.split(": ");
      headers.put(parts[0], parts[1]);
    }
    return new Row(address, Json.decodeValue(asked.get(0)), headers, codes(cells[1]).get(0));
  }

  private static List<String> codes(String cell) {
    return CODE.matcher(cell).results().map((MatchResult each) -> each.group(1)).toList();
  }
}
