package dev.evenkeel.bus.meters;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A gauge with labels whose values come and go, such as a figure for each topic. */
public final class FigureTable {
  private static final class Cell {
    private volatile double value;
    private Gauge gauge;
  }

  private final MeterRegistry registry;
  private final String name;
  private final String help;
  private final String[] labels;
  private final Map<List<String>, Cell> cells = new HashMap<>();

  FigureTable(MeterRegistry registry, String name, String help, String[] labels) {
    this.registry = registry;
    this.name = name;
    this.help = help;
    this.labels = labels;
  }

  /** From now on these are the figures; what is not among them is not shown any more. */
  public synchronized void show(Rows rows) {
    Map<List<String>, Double> sums = rows.sums();
    cells
        .entrySet()
        .removeIf(
            each -> {
              boolean gone = !sums.containsKey(each.getKey());
              if (gone) {
                registry.remove(each.getValue().gauge);
              }
              return gone;
            });
    sums.forEach((key, value) -> cells.computeIfAbsent(key, this::cell).value = value);
  }

  private Cell cell(List<String> values) {
    Cell cell = new Cell();
    List<Tag> tags = new ArrayList<>();
    for (int i = 0; i < labels.length; i++) {
      tags.add(Tag.of(labels[i], values.get(i)));
    }
    cell.gauge =
        Gauge.builder(name, () -> cell.value).description(help).tags(tags).register(registry);
    return cell;
  }

  void clear() {
    show(new Rows(0));
  }
}
