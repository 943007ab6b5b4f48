package dev.evenkeel.broker;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.evenkeel.log.EntryBody;
import dev.evenkeel.storage.Store;
import org.junit.jupiter.api.Test;

/** Decide, then apply: deciding reads, only changes alter, and nobody in there reads a clock. */
class BrokerArchTest {
  private static final String STATE = "dev.evenkeel.broker.state..";
  private static final String DECIDE = "dev.evenkeel.broker.decide..";
  private static final String MACHINE = "dev.evenkeel.broker.machine..";

  private static final JavaClasses BROKER =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("dev.evenkeel.broker");

  @Test
  void theStateMachineKnowsNoBusNoLogAndNoClock() {
    noClasses()
        .that()
        .resideInAnyPackage(STATE, DECIDE)
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io..", "dev.evenkeel.bus..", "dev.evenkeel.log..", "java.time..")
                .and(not(type(EntryBody.class))))
        .check(BROKER);
    for (String clock : new String[] {"currentTimeMillis", "nanoTime"}) {
      noClasses()
          .that()
          .resideInAnyPackage(STATE, DECIDE)
          .should()
          .callMethod(System.class, clock)
          .check(BROKER);
    }
  }

  @Test
  void decidingWritesNothing() {
    noClasses()
        .that()
        .resideInAPackage(DECIDE)
        .should()
        .dependOnClassesThat()
        .areAssignableTo(Store.Write.class)
        .check(BROKER);
  }

  @Test
  void partsDependOneWay() {
    noClasses()
        .that()
        .resideInAPackage(STATE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(DECIDE, MACHINE, "dev.evenkeel.broker.serve..")
        .check(BROKER);
    noClasses()
        .that()
        .resideInAnyPackage(STATE, DECIDE, MACHINE)
        .should()
        .dependOnClassesThat()
        .resideInAPackage("dev.evenkeel.broker.serve..")
        .check(BROKER);
  }

  @Test
  void theBrokerUsesOnlyWhatItMay() {
    classes()
        .should()
        .onlyDependOnClassesThat()
        .resideInAnyPackage(
            "java..",
            "io.vertx..",
            "io.netty..",
            "io.micrometer.core.instrument..",
            "org.slf4j..",
            "dev.evenkeel.broker..",
            "dev.evenkeel.protocol..",
            "dev.evenkeel.util..",
            "dev.evenkeel.settings..",
            "dev.evenkeel.api..",
            "org.jspecify..",
            "dev.evenkeel.log",
            "dev.evenkeel.storage",
            "dev.evenkeel.storage.segment",
            "dev.evenkeel.bus..")
        .check(BROKER);
  }
}
