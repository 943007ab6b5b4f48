package dev.evenkeel.openapi;

import com.fasterxml.classmate.ResolvedType;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.CustomDefinition;
import com.github.victools.jsonschema.generator.CustomDefinitionProviderV2;
import com.github.victools.jsonschema.generator.CustomPropertyDefinition;
import com.github.victools.jsonschema.generator.FieldScope;
import com.github.victools.jsonschema.generator.Option;
import com.github.victools.jsonschema.generator.OptionPreset;
import com.github.victools.jsonschema.generator.SchemaGenerationContext;
import com.github.victools.jsonschema.generator.SchemaGenerator;
import com.github.victools.jsonschema.generator.SchemaGeneratorConfigBuilder;
import com.github.victools.jsonschema.generator.SchemaVersion;
import dev.evenkeel.api.Body;
import dev.evenkeel.api.Bounds;
import dev.evenkeel.api.Caller;
import dev.evenkeel.api.Default;
import dev.evenkeel.api.HeaderValue;
import dev.evenkeel.api.Inline;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.NotEmpty;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.Words;
import dev.evenkeel.protocol.Worded;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.annotation.Annotation;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Schemas of records, described by their doc comments. A record in a file of its own is a schema
 * with a name; one inside another record is a part of that.
 */
final class Schemas {
  private static final String INLINE = "x-inline";

  private final SchemaGenerator generator;
  private final Map<String, JsonObject> named = new TreeMap<>();

  /** The record whose schema is being made. */
  private Class<?> root;

  /** Whether it is a question: then what may be null need not be there. */
  private boolean asked;

  Schemas() {
    CustomDefinitionProviderV2 references = this::reference;
    SchemaGeneratorConfigBuilder config =
        new SchemaGeneratorConfigBuilder(SchemaVersion.DRAFT_2020_12, OptionPreset.PLAIN_JSON)
            .with(
                Option.INLINE_ALL_SCHEMAS,
                Option.ADDITIONAL_FIXED_TYPES,
                Option.EXTRA_OPEN_API_FORMAT_VALUES,
                Option.MAP_VALUES_AS_ADDITIONAL_PROPERTIES)
            .without(Option.SCHEMA_VERSION_INDICATOR);
    config
        .forFields()
        .withIgnoreCheck(field -> has(field, Caller.class))
        .withCustomDefinitionProvider(
            (field, context) ->
                has(field, Inline.class)
                    ? new CustomPropertyDefinition(
                        context.createStandardDefinition(field.getType(), references))
                    : null)
        .withArrayMinItemsResolver(
            field -> !field.isFakeContainerItemScope() && has(field, NotEmpty.class) ? 1 : null)
        .withNullableCheck(field -> isNullable(field) && !has(field, LeftOut.class))
        .withRequiredCheck(this::isRequired)
        .withDescriptionResolver(
            field ->
                field.isFakeContainerItemScope()
                    ? null
                    : Docs.of(field.getDeclaringType().getErasedType(), field.getDeclaredName()))
        .withDefaultResolver(field -> asked ? usual(field) : null)
        .withEnumResolver(Schemas::words)
        .withInstanceAttributeOverride(
            (node, field, context) -> {
              if (has(field, Inline.class)) {
                node.put(INLINE, isNullable(field) ? "perhaps" : "always");
              }
            })
        .withNumberInclusiveMinimumResolver(field -> bound(field, Bounds::min))
        .withNumberInclusiveMaximumResolver(field -> bound(field, Bounds::max));
    config
        .forTypesInGeneral()
        .withCustomDefinitionProvider(references)
        .withPropertySorter((one, other) -> 0);
    generator = new SchemaGenerator(config.build());
  }

  /** All schemas that {@link #refer} has named. */
  Map<String, JsonObject> named() {
    return named;
  }

  /** The schema of a question. */
  JsonObject ofQuestion(Class<? extends Record> type) {
    asked = true;
    try {
      return of(type);
    } finally {
      asked = false;
    }
  }

  private JsonObject of(Class<? extends Record> type) {
    Class<?> outer = root;
    root = type;
    try {
      JsonObject schema = new JsonObject(generator.generateSchema(type).toString());
      simplify(schema);
      inline(schema);
      return schema;
    } finally {
      root = outer;
    }
  }

  /** Bounds of a map are those of its values, and a word that may be null is one schema. */
  private static void simplify(JsonObject property) {
    if (property.remove("anyOf") instanceof JsonArray any) {
      JsonObject word = any.getJsonObject(1);
      property
          .put("type", new JsonArray().add("string").add("null"))
          .put("enum", word.getJsonArray("enum").addNull());
    }
    if (property.containsKey("properties")) {
      JsonObject properties = property.getJsonObject("properties");
      properties.fieldNames().forEach(each -> simplify(properties.getJsonObject(each)));
    }
    if (property.getValue("items") instanceof JsonObject items) {
      simplify(items);
    }

    JsonObject values = property.getJsonObject("additionalProperties");
    for (String bound : List.of("minimum", "maximum")) {
      if (values != null && property.containsKey(bound)) {
        values.put(bound, property.remove(bound));
      }
    }
  }

  /** Puts the properties of inline records in the places of those records. */
  private static void inline(JsonObject schema) {
    JsonObject properties = schema.getJsonObject("properties");
    if (properties != null) {
      JsonObject flat = new JsonObject();
      JsonArray required = schema.getJsonArray("required", new JsonArray());
      for (String name : properties.fieldNames()) {
        JsonObject each = properties.getJsonObject(name);
        inline(each);
        Object how = each.remove(INLINE);
        if (how == null) {
          flat.put(name, each);
          continue;
        }
        flat.mergeIn(each.getJsonObject("properties"));
        required.remove(name);
        if (how.equals("always")) {
          required.addAll(each.getJsonArray("required", new JsonArray()));
        }
      }
      schema.put("properties", flat);
      if (required.isEmpty()) {
        schema.remove("required");
      }
    }
    if (schema.getValue("items") instanceof JsonObject items) {
      inline(items);
    }
  }

  /** A reference to the schema of a record, which is made if there is none yet. */
  JsonObject refer(Class<? extends Record> type) {
    String name = name(type);
    if (!named.containsKey(name)) {
      named.put(name, new JsonObject());
      JsonObject schema = of(type);
      String description = Docs.of(type);
      if (description != null) {
        schema.put("description", Docs.first(description));
      }
      named.put(name, schema);
    }
    return refer(name);
  }

  static JsonObject refer(String name) {
    return new JsonObject().put("$ref", "#/components/schemas/" + name);
  }

  /** Names a schema. */
  JsonObject refer(String name, JsonObject schema) {
    named.put(name, schema);
    return refer(name);
  }

  static String name(Class<?> type) {
    Body body = type.getAnnotation(Body.class);
    return body == null ? type.getSimpleName().replaceFirst("View$", "") : body.value();
  }

  private CustomDefinition reference(ResolvedType type, SchemaGenerationContext context) {
    Class<?> plain = type.getErasedType();
    if (plain == HeaderValue.class) {
      ObjectNode node = context.getGeneratorConfig().createObjectNode();
      ArrayNode forms = node.putArray("oneOf");
      forms.addObject().put("type", "string");
      ObjectNode bytes = forms.addObject().put("type", "object");
      bytes.putObject("properties").putObject("base64").put("type", "string");
      return new CustomDefinition(node, true);
    }
    if (plain.isEnum()) {
      ObjectNode node = context.getGeneratorConfig().createObjectNode().put("type", "string");
      ArrayNode all = node.putArray("enum");
      words(plain).forEach(all::add);
      return new CustomDefinition(node, true);
    }
    if (!plain.isRecord() || plain == root || plain.getEnclosingClass() != null) {
      return null;
    }
    ObjectNode node = context.getGeneratorConfig().createObjectNode();
    refer(plain.asSubclass(Record.class))
        .forEach(each -> node.put(each.getKey(), (String) each.getValue()));
    return new CustomDefinition(node, true);
  }

  private static RecordComponent component(FieldScope field) {
    return Stream.of(field.getDeclaringType().getErasedType().getRecordComponents())
        .filter(each -> each.getName().equals(field.getDeclaredName()))
        .findFirst()
        .orElseThrow();
  }

  @SafeVarargs
  private static boolean has(FieldScope field, Class<? extends Annotation>... any) {
    return Stream.of(any).anyMatch(component(field)::isAnnotationPresent);
  }

  private boolean isRequired(FieldScope field) {
    return !has(field, LeftOut.class)
        && (!asked || !isNullable(field) && !has(field, Default.class));
  }

  private static boolean isNullable(FieldScope field) {
    return component(field).getAnnotatedType().isAnnotationPresent(Nullable.class);
  }

  private static Object usual(FieldScope field) {
    RecordComponent component = component(field);
    Default usual = component.getAnnotation(Default.class);
    return usual == null
        ? null
        : RecordJson.of(component.getDeclaringRecord().asSubclass(Record.class))
            .ofText("default", component.getName(), usual.value());
  }

  private static List<String> words(FieldScope field) {
    Words words =
        field.isFakeContainerItemScope() ? null : component(field).getAnnotation(Words.class);
    return words == null ? null : List.of(words.value());
  }

  private static BigDecimal bound(FieldScope field, ToLongFunction<Bounds> of) {
    Bounds bounds =
        field.isFakeContainerItemScope() ? null : component(field).getAnnotation(Bounds.class);
    long value = bounds == null ? Long.MIN_VALUE : of.applyAsLong(bounds);
    return value == Long.MIN_VALUE || value == Long.MAX_VALUE ? null : BigDecimal.valueOf(value);
  }

  private static List<String> words(Class<?> type) {
    return Stream.of(type.getEnumConstants())
        .map(each -> each instanceof Worded worded ? worded.word() : ((Enum<?>) each).name())
        .toList();
  }
}
