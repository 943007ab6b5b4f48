package dev.evenkeel.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The table of packages: who may import whom, and which engine lives where. */
class PackageTableTest {
  private static final String ROOT = "dev.evenkeel.";

  /** Package → what it may import of ours. {@code cli} is absent: it may import everything. */
  private static final Map<String, Set<String>> TABLE =
      Map.ofEntries(
          Map.entry("model", Set.of()),
          Map.entry("wire", Set.of("model")),
          Map.entry("assign", Set.of("model")),
          Map.entry("level", Set.of("model")),
          Map.entry("dedup", Set.of("model")),
          Map.entry("log", Set.of("model", "wire")),
          Map.entry("store", Set.of("model", "wire")),
          Map.entry("broker", Set.of("model", "wire", "log", "store", "bus")),
          Map.entry("cluster", Set.of("model", "dedup")),
          Map.entry("bus", Set.of("model", "wire")),
          Map.entry(
              "dispatcher",
              // The consumer: the level dispatcher of a group is one (decision 11).
              Set.of(
                  "model",
                  "wire",
                  "bus",
                  "assign",
                  "level",
                  "dedup",
                  "cluster",
                  "log",
                  "consumer")),
          Map.entry("consumer", Set.of("model", "wire", "bus", "level", "dedup", "cluster")),
          Map.entry("producer", Set.of("model", "wire", "bus", "level", "dedup", "cluster")),
          Map.entry("client", Set.of("model", "wire", "bus", "consumer", "producer", "cluster")),
          Map.entry("web", Set.of("model", "bus", "cluster")));

  /** Packages of engines → the only package of ours that may know them. */
  private static final Map<String, String> ENGINES =
      Map.of(
          "org.apache.ratis..", "dev.evenkeel.log.raft..",
          "org.rocksdb..", "dev.evenkeel.store..",
          "com.hazelcast..", "dev.evenkeel.cluster..",
          "io.vertx.spi.cluster.hazelcast..", "dev.evenkeel.cluster..",
          "picocli..", "dev.evenkeel.cli..",
          "org.yaml..", "dev.evenkeel.cli..",
          "io.vertx.ext.web..", "dev.evenkeel.web..");

  /** Packages whose decisions take the time as an argument and do no I/O. */
  private static final String[] PURE = {
    ROOT + "model..",
    ROOT + "wire..",
    ROOT + "assign..",
    ROOT + "level..",
    ROOT + "dedup..",
    ROOT + "dispatcher.core..",
    ROOT + "dispatcher.level.core..",
    ROOT + "consumer.core..",
    ROOT + "consumer.level..",
    ROOT + "producer.core..",
    ROOT + "producer.spool",
    ROOT + "broker.state..",
    ROOT + "broker.decide.."
  };

  /**
   * Of Vert.x, what {@code level} may know: a track's {@code ready()} is a future on the asker's
   * context.
   */
  private static final Set<String> FUTURES =
      Set.of(
          "io.vertx.core.Context",
          "io.vertx.core.Future",
          "io.vertx.core.Promise",
          "io.vertx.core.Vertx");

  /** It applies what was decided, alike on every node; its store lies in files. */
  private static final String REPLICATED = ROOT + "broker.machine..";

  private static JavaClasses classes;

  @BeforeAll
  static void read() {
    classes =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.evenkeel");
  }

  @TestFactory
  Stream<DynamicTest> a_package_imports_only_what_the_table_allows() {
    return TABLE.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            row ->
                DynamicTest.dynamicTest(
                    row.getKey(), () -> checkRow(row.getKey(), row.getValue())));
  }

  private static void checkRow(String name, Set<String> allowed) {
    Set<String> mayImport = new LinkedHashSet<>(allowed);
    mayImport.add(name);
    DescribedPredicate<JavaClass> forbidden =
        DescribedPredicate.describe(
            "of Evenkeel outside " + mayImport,
            target ->
                target.getPackageName().startsWith(ROOT)
                    && !mayImport.contains(topLevel(target.getPackageName())));
    noClasses()
        .that()
        .resideInAPackage(ROOT + name + "..")
        .should()
        .dependOnClassesThat(forbidden)
        .allowEmptyShould(true)
        .check(classes);
  }

  private static String topLevel(String packageName) {
    String below = packageName.substring(ROOT.length());
    int dot = below.indexOf('.');
    return dot < 0 ? below : below.substring(0, dot);
  }

  @Test
  void every_package_is_in_the_table() {
    Set<String> known = new LinkedHashSet<>(TABLE.keySet());
    known.add("cli");
    classes()
        .should()
        .resideInAnyPackage(known.stream().map(name -> ROOT + name + "..").toArray(String[]::new))
        .check(classes);
  }

  @TestFactory
  Stream<DynamicTest> an_engine_is_known_in_one_package_only() {
    return ENGINES.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            engine ->
                DynamicTest.dynamicTest(
                    engine.getKey(),
                    () ->
                        noClasses()
                            .that()
                            .resideOutsideOfPackage(engine.getValue())
                            .should()
                            .dependOnClassesThat()
                            .resideInAPackage(engine.getKey())
                            .check(classes)));
  }

  @Test
  void what_an_application_uses_keeps_no_metrics() {
    noClasses()
        .that()
        .resideInAnyPackage(
            ROOT + "client..", ROOT + "consumer..", ROOT + "producer..", ROOT + "cluster..")
        .or()
        .resideInAnyPackage(PURE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.micrometer..", "io.prometheus..", ROOT + "bus.meters..")
        .check(classes);
  }

  @Test
  void what_decides_knows_neither_vertx_nor_clocks_nor_files() {
    noClasses()
        .that()
        .resideInAnyPackage(PURE)
        .should()
        .dependOnClassesThat(
            DescribedPredicate.describe(
                "of Vert.x, but for the futures of a track",
                target -> target.getPackageName().startsWith("io.vertx") && !isFuture(target)))
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("java.nio.file..", "java.util.concurrent.locks..")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(Math.class, "random")
        .check(classes);
  }

  @Test
  void futures_among_what_decides_are_for_level_alone() {
    noClasses()
        .that()
        .resideInAnyPackage(PURE)
        .and()
        .resideOutsideOfPackage(ROOT + "level..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.vertx..")
        .check(classes);
  }

  private static boolean isFuture(JavaClass target) {
    return FUTURES.contains(target.getName());
  }

  @Test
  void what_every_node_applies_alike_knows_neither_vertx_nor_clocks() {
    noClasses()
        .that()
        .resideInAPackage(REPLICATED)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "java.time..")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(Math.class, "random")
        .check(classes);
  }

  @Test
  void nothing_is_printed_outside_the_command_line() {
    List<String> streams = List.of("out", "err");
    for (String stream : streams) {
      noClasses()
          .that()
          .resideOutsideOfPackage(ROOT + "cli..")
          .should()
          .accessField(System.class, stream)
          .check(classes);
    }
  }
}
