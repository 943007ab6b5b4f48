package dev.evenkeel.bus.meters;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A metric with labels whose values come and go, such as one per topic. */
public final class FigureTable {
  private static final class Cell {
    private volatile double value;
    private Meter meter;
  }

  private final MeterRegistry registry;
  private final String name;
  private final String help;
  private final String[] labels;
  private final boolean counted;
  private final Map<List<String>, Cell> cells = new HashMap<>();

  /**
   * @param counted whether it is a counter
   */
  FigureTable(MeterRegistry registry, String name, String help, String[] labels, boolean counted) {
    this.registry = registry;
    this.name = name;
    this.help = help;
    this.labels = labels;
    this.counted = counted;
  }

  /** Sets all values. Labels that are not among these rows disappear. */
  public synchronized void show(Rows rows) {
    Map<List<String>, Double> sums = rows.sums();
    cells
        .entrySet()
        .removeIf(
            each -> {
              boolean gone = !sums.containsKey(each.getKey());
              if (gone) {
                registry.remove(each.getValue().meter);
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
    cell.meter =
        counted
            ? FunctionCounter.builder(name, cell, it -> it.value)
                .description(help)
                .tags(tags)
                .register(registry)
            : Gauge.builder(name, () -> cell.value).description(help).tags(tags).register(registry);
    return cell;
  }

  void clear() {
    show(new Rows(0));
  }
}
