package dev.evenkeel.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import dev.evenkeel.protocol.Message;
import dev.evenkeel.util.MonotonicClock;
import dev.evenkeel.util.SteadyClock;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
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

  /** The name here of the entry points, which are in {@code dev.evenkeel} itself. */
  private static final String ENTRY = "(entry points)";

  private static final Set<String> CLIENT_JAR =
      Set.of(
          "client",
          "client.internal",
          "settings",
          "api",
          "protocol",
          "level",
          "dedup",
          "bus",
          "cluster");

  /** Package → what it may import of ours, besides {@code util}. */
  private static final Map<String, Set<String>> TABLE =
      Map.ofEntries(
          Map.entry(ENTRY, CLIENT_JAR),
          Map.entry("client", Set.of("settings", "api", "protocol", "dedup")),
          Map.entry(
              "client.internal",
              Set.of("client", "settings", "api", "protocol", "level", "dedup", "bus", "cluster")),
          Map.entry("settings", Set.of("protocol")),
          Map.entry("api", Set.of("protocol")),
          Map.entry("protocol", Set.of()),
          Map.entry("util", Set.of()),
          Map.entry("level", Set.of("protocol")),
          Map.entry("dedup", Set.of("protocol")),
          Map.entry("bus", Set.of("api", "protocol")),
          Map.entry("assign", Set.of("protocol")),
          Map.entry("log", Set.of("protocol")),
          Map.entry("storage", Set.of("protocol")),
          Map.entry("broker", Set.of("settings", "api", "protocol", "log", "storage", "bus")),
          Map.entry("cluster", Set.of("protocol", "dedup")),
          Map.entry(
              "dispatcher",
              // The client: the level dispatcher of a group is a consumer (decision 11).
              Set.of(
                  "settings",
                  "api",
                  "protocol",
                  "bus",
                  "assign",
                  "level",
                  "dedup",
                  "cluster",
                  "log",
                  "client",
                  "client.internal")),
          // It makes a client, and speaks to the cluster over the connection of that.
          Map.entry(
              "gateway",
              Set.of(
                  ENTRY,
                  "settings",
                  "api",
                  "protocol",
                  "bus",
                  "client",
                  "client.internal",
                  "cluster",
                  "dedup")));

  /** They may import everything, and only each other may import them. */
  private static final Set<String> PROGRAM = Set.of("cli", "bench", "demo", "testkit", "openapi");

  /** Packages of engines → the only packages of ours that may know them. */
  private static final Map<String, List<String>> ENGINES =
      Map.of(
          "org.apache.ratis..", List.of("log.raft"),
          "org.rocksdb..", List.of("storage"),
          "com.hazelcast..", List.of("cluster"),
          "io.vertx.spi.cluster.hazelcast..", List.of("cluster"),
          "picocli..", List.of("cli", "bench", "demo"),
          "org.yaml..", List.of("cli"),
          "net.jpountz..", List.of("protocol.wire"),
          "com.github.luben..", List.of("protocol.wire"),
          "io.vertx.ext.web..", List.of("gateway.http"));

  /** Packages whose decisions take the time as an argument and do no I/O. */
  private static final String[] PURE = {
    ROOT + "protocol",
    ROOT + "protocol.wire..",
    ROOT + "util",
    ROOT + "assign..",
    ROOT + "level..",
    ROOT + "dedup..",
    ROOT + "dispatcher.core..",
    ROOT + "dispatcher.level.core..",
    ROOT + "client.internal.admission..",
    ROOT + "client.internal.consume..",
    ROOT + "client.internal.level..",
    ROOT + "client.internal.produce.core..",
    ROOT + "client.internal.spool.log",
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
  Stream<DynamicTest> aPackageImportsOnlyWhatTheTableAllows() {
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
    mayImport.add("util");
    noClasses()
        .that(
            DescribedPredicate.describe(
                "of '" + name + "'", each -> row(each.getPackageName()).equals(name)))
        .should()
        .dependOnClassesThat(
            DescribedPredicate.describe(
                "of Evenkeel outside " + mayImport,
                target ->
                    (target.getPackageName() + ".").startsWith(ROOT)
                        && !mayImport.contains(row(target.getPackageName()))))
        .check(classes);
  }

  /** The row of the table that a package belongs to. */
  private static String row(String packageName) {
    String below = (packageName + ".").substring(ROOT.length());
    if (below.startsWith("client.internal.")) {
      return "client.internal";
    }
    return below.isEmpty() ? ENTRY : below.substring(0, below.indexOf('.'));
  }

  @Test
  void everyPackageIsInTheTable() {
    classes()
        .should(
            ArchCondition.from(
                DescribedPredicate.describe(
                    "be in the table",
                    each ->
                        TABLE.containsKey(row(each.getPackageName()))
                            || PROGRAM.contains(row(each.getPackageName())))))
        .check(classes);
  }

  @Test
  void packagesFormNoCycleAtAnyDepth() {
    for (String depth : List.of("(*)..", "(*).(*)..", "(*).(*).(*)..", "(**)")) {
      SlicesRuleDefinition.slices().matching(ROOT + depth).should().beFreeOfCycles().check(classes);
    }
  }

  @TestFactory
  Stream<DynamicTest> anEngineIsKnownInOnePackageOnly() {
    return ENGINES.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .map(
            engine ->
                DynamicTest.dynamicTest(
                    engine.getKey(),
                    () ->
                        noClasses()
                            .that()
                            .resideOutsideOfPackages(
                                engine.getValue().stream()
                                    .map(name -> ROOT + name + "..")
                                    .toArray(String[]::new))
                            .should()
                            .dependOnClassesThat()
                            .resideInAPackage(engine.getKey())
                            .check(classes)));
  }

  @Test
  void whatAnApplicationUsesKeepsNoMetrics() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + "client..", ROOT + "cluster..")
        .or()
        .resideInAnyPackage(PURE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.micrometer..", "io.prometheus..", ROOT + "bus.meters..")
        .check(classes);
  }

  @Test
  void whatDecidesKnowsNeitherVertxNorClocksNorFiles() {
    noClasses()
        .that()
        .resideInAnyPackage(PURE)
        // Applications make messages with the builder, and it decides nothing.
        .and()
        .doNotBelongToAnyOf(Message.Builder.class, MonotonicClock.class, SteadyClock.class)
        .should()
        .dependOnClassesThat(
            DescribedPredicate.describe(
                "of Vert.x, but for the futures of a track",
                target -> target.getPackageName().startsWith("io.vertx") && !isFuture(target)))
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "java.nio.file..", ROOT + "util.files..", "java.util.concurrent.locks..")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .orShould()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .dependOnClassesThat()
        .belongToAnyOf(MonotonicClock.class, SteadyClock.class)
        .orShould()
        .callMethod(Math.class, "random")
        .check(classes);
  }

  @Test
  void futuresAmongWhatDecidesAreForLevelAlone() {
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
  void whatEveryNodeAppliesAlikeKnowsNeitherVertxNorClocks() {
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
        .dependOnClassesThat()
        .belongToAnyOf(MonotonicClock.class, SteadyClock.class)
        .orShould()
        .callMethod(Math.class, "random")
        .check(classes);
  }

  @Test
  void nothingIsPrintedOutsideTheCommandLine() {
    List<String> streams = List.of("out", "err");
    for (String stream : streams) {
      noClasses()
          .that()
          .resideOutsideOfPackages(ROOT + "cli..", ROOT + "bench..", ROOT + "demo..")
          .should()
          .accessField(System.class, stream)
          .check(classes);
    }
  }

  /**
   * A node has no Jackson databind; the build and the tests have it, by way of what makes the
   * OpenAPI document and what reads the manifests. So that nothing works in tests alone, nothing
   * may map JSON to objects.
   */
  @Test
  void nothingMapsJsonToObjects() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + "openapi..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("com.fasterxml.jackson.databind..")
        .orShould()
        .callMethod(JsonObject.class, "mapTo", Class.class)
        .orShould()
        .callMethod(JsonObject.class, "mapFrom", Object.class)
        .orShould()
        .callMethod(Json.class, "decodeValue", String.class, Class.class)
        .check(classes);
  }
}
