package dev.evenkeel.openapi;

import com.fasterxml.classmate.ResolvedType;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.github.victools.jsonschema.generator.CustomDefinition;
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
import dev.evenkeel.api.Inline;
import dev.evenkeel.api.LeftOut;
import dev.evenkeel.api.NotEmpty;
import dev.evenkeel.api.RecordJson;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.api.Whole;
import dev.evenkeel.api.Words;
import dev.evenkeel.protocol.Worded;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.lang.annotation.Annotation;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Schemas of records, described by their doc comments. A record in a file of its own is a schema
 * with a name, and so is one with a {@link Body}; another one inside a record is a part of that.
 */
final class Schemas {
  /** Larger numbers bind nobody. */
  private static final long NO_BOUND = 1L << 60;

  private final SchemaGenerator generator;
  private final Map<String, JsonObject> named = new TreeMap<>();

  /** The record whose schema is being made. */
  private Class<?> root;

  /** Whether it is a question: then what may be null need not be there. */
  private boolean asked;

  Schemas() {
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
        .withIgnoreCheck(field -> has(field, Inline.class) || has(field, Caller.class))
        .withNullableCheck(field -> isNullable(field) && !has(field, LeftOut.class))
        .withRequiredCheck(this::isRequired)
        .withDescriptionResolver(
            field ->
                field.isFakeContainerItemScope()
                    ? null
                    : Docs.of(field.getDeclaringType().getErasedType(), field.getDeclaredName()))
        .withDefaultResolver(field -> asked ? usual(field) : null)
        .withEnumResolver(Schemas::words)
        .withArrayMinItemsResolver(
            field -> !field.isFakeContainerItemScope() && has(field, NotEmpty.class) ? 1 : null)
        .withNumberInclusiveMinimumResolver(field -> bound(field, Bounds::min))
        .withNumberInclusiveMaximumResolver(
            field -> isText(field) ? null : bound(field, Bounds::max))
        .withStringMaxLengthResolver(field -> isText(field) ? lengthMax(field) : null);
    config
        .forTypesInGeneral()
        .withCustomDefinitionProvider(this::reference)
        .withPropertySorter((unusedOne, unusedOther) -> 0);
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

  /** The schema of an answer. */
  JsonObject of(Class<? extends Record> type) {
    Class<?> outer = root;
    root = type;
    try {
      JsonObject schema = new JsonObject(generator.generateSchema(type).toString());
      simplify(schema);
      return whole(type, schema);
    } finally {
      root = outer;
    }
  }

  /** Puts the fields of those components into a schema that are not one field of their own. */
  private JsonObject whole(Class<? extends Record> type, JsonObject schema) {
    JsonObject former = schema.getJsonObject("properties", new JsonObject());
    JsonObject properties = new JsonObject();
    Set<Object> required = new HashSet<>();
    schema.getJsonArray("required", new JsonArray()).forEach(required::add);
    for (RecordComponent each : type.getRecordComponents()) {
      String name = each.getName();
      if (each.isAnnotationPresent(Inline.class)) {
        JsonObject inner = of(each.getType().asSubclass(Record.class));
        if (each.isAnnotationPresent(Whole.class)) {
          allThere(inner);
        }
        properties.mergeIn(inner.getJsonObject("properties"));
        if (!isNullable(each)) {
          inner.getJsonArray("required", new JsonArray()).forEach(required::add);
        }
      } else if (each.getType() == TextOrBytes.class) {
        required.remove(name);
        Object text = isNullable(each) ? new JsonArray().add("string").add("null") : "string";
        properties.put(name, new JsonObject().put("type", text));
        String what = "The " + name + ", if it is not UTF-8";
        properties.put(
            name + "Base64", new JsonObject().put("type", "string").put("description", what));
      } else if (former.containsKey(name)) {
        properties.put(name, former.getValue(name));
      }
    }
    if (!properties.isEmpty()) {
      schema.put("properties", properties);
    }
    if (asked) {
      // What a question has is read strictly.
      schema.put("additionalProperties", false);
    }
    schema.remove("required");
    List<String> inOrder = properties.fieldNames().stream().filter(required::contains).toList();
    return inOrder.isEmpty() ? schema : schema.put("required", new JsonArray(inOrder));
  }

  /** No property of the schema may be null or missing; what a question may give at most is gone. */
  private static void allThere(JsonObject schema) {
    JsonObject properties = schema.getJsonObject("properties");
    for (String name : properties.fieldNames()) {
      JsonObject property = properties.getJsonObject(name);
      property.remove("maximum");
      if (property.getValue("type") instanceof JsonArray types) {
        property.put("type", types.getValue(0));
      }
    }
    schema.put("required", new JsonArray(List.copyOf(properties.fieldNames())));
  }

  /** Bounds of a map are those of its values, and what may be null is one schema. */
  private static void simplify(JsonObject property) {
    if (property.remove("anyOf") instanceof JsonArray any) {
      JsonObject one = any.getJsonObject(1);
      property.mergeIn(one);
      property.put("type", new JsonArray().add(one.getValue("type")).add("null"));
      if (one.containsKey("enum")) {
        property.put("enum", one.getJsonArray("enum").copy().addNull());
      }
    }
    if (property.containsKey("properties")) {
      JsonObject properties = property.getJsonObject("properties");
      properties.fieldNames().forEach(each -> simplify(properties.getJsonObject(each)));
    }
    if (property.getValue("items") instanceof JsonObject items) {
      simplify(items);
    }
    for (String bound : List.of("minimum", "maximum")) {
      if (property.getValue("additionalProperties") instanceof JsonObject values
          && property.containsKey(bound)) {
        values.put(bound, property.remove(bound));
      }
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
    return new JsonObject().put("$ref", reference(name));
  }

  static String reference(String name) {
    return "#/components/schemas/" + name;
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
    if (plain.isEnum()) {
      ObjectNode node = context.getGeneratorConfig().createObjectNode().put("type", "string");
      ArrayNode all = node.putArray("enum");
      words(plain).forEach(all::add);
      return new CustomDefinition(node, true);
    }
    if (plain == TextOrBytes.class) {
      ObjectNode node = context.getGeneratorConfig().createObjectNode();
      ArrayNode either = node.putArray("oneOf");
      either.addObject().put("type", "string");
      either
          .addObject()
          .put("type", "object")
          .putObject("properties")
          .putObject("base64")
          .put("type", "string");
      return new CustomDefinition(node, true);
    }
    if (plain == JsonObject.class) {
      return new CustomDefinition(
          context.getGeneratorConfig().createObjectNode().put("type", "object"), true);
    }
    if (!plain.isRecord() || plain == root) {
      return null;
    }
    if (plain.getEnclosingClass() != null && !plain.isAnnotationPresent(Body.class)) {
      return new CustomDefinition(node(context, of(plain.asSubclass(Record.class))), true);
    }
    return new CustomDefinition(node(context, refer(plain.asSubclass(Record.class))), true);
  }

  private static ObjectNode node(SchemaGenerationContext context, JsonObject schema) {
    try {
      return (ObjectNode) context.getGeneratorConfig().getObjectMapper().readTree(schema.encode());
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static RecordComponent component(FieldScope field) {
    return Stream.of(field.getDeclaringType().getErasedType().getRecordComponents())
        .filter(each -> each.getName().equals(field.getDeclaredName()))
        .findFirst()
        .orElseThrow();
  }

  private static boolean has(FieldScope field, Class<? extends Annotation> annotation) {
    return component(field).isAnnotationPresent(annotation);
  }

  private boolean isRequired(FieldScope field) {
    return !has(field, LeftOut.class)
        && (!asked || !isNullable(field) && !has(field, Default.class) && !isFlag(field));
  }

  /** A flag that is not there is false. */
  private static boolean isFlag(FieldScope field) {
    return component(field).getType() == boolean.class;
  }

  private static boolean isNullable(FieldScope field) {
    return isNullable(component(field));
  }

  private static boolean isNullable(RecordComponent component) {
    return component.getAnnotatedType().isAnnotationPresent(Nullable.class);
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
    return Math.abs(value) < NO_BOUND && value != Long.MIN_VALUE ? BigDecimal.valueOf(value) : null;
  }

  private static boolean isText(FieldScope field) {
    return field.getType().getErasedType() == String.class;
  }

  private static Integer lengthMax(FieldScope field) {
    BigDecimal max = bound(field, Bounds::max);
    return max == null ? null : (Integer) max.intValueExact();
  }

  private static List<String> words(Class<?> type) {
    return Stream.of(type.getEnumConstants())
        .map(each -> each instanceof Worded worded ? worded.word() : ((Enum<?>) each).name())
        .toList();
  }
}
