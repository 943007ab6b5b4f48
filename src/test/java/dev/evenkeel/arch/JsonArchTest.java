package dev.evenkeel.arch;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A node has no Jackson databind; the tests have it, by way of what reads the manifests. So that
 * nothing works in tests alone, nothing may map JSON to objects.
 */
class JsonArchTest {
  private static JavaClasses classes;

  @BeforeAll
  static void read() {
    classes =
        new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.evenkeel");
  }

  @Test
  void nothingNeedsDatabind() {
    noClasses()
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
