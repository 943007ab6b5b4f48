package dev.evenkeel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.evenkeel.Fails;
import dev.evenkeel.protocol.QuotaKind;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordJsonTest {
  /** Something of each type. */
  public record Everything(
      String text,
      @Bounds(min = 1, max = 5) int number,
      @Bounds(min = 0) @Nullable Long perhaps,
      @Default("7") int usual,
      boolean flag,
      QuotaKind kind,
      @Nullable Instant time,
      List<Item> items,
      Map<String, Integer> counts,
      @LeftOut @Nullable String seldom,
      @LeftOut long zero,
      @LeftOut List<String> none,
      @Inline Item inline,
      @Nullable Double share) {}

  public record Item(String name) {}

  private static final Everything FULL =
      new Everything(
          "a",
          5,
          0L,
          1,
          true,
          QuotaKind.GROUP_RATE,
          Instant.parse("2026-01-31T12:00:00Z"),
          List.of(new Item("x")),
          Map.of("k", 3),
          "s",
          9,
          List.of("n"),
          new Item("y"),
          0.5);

  private static final RecordJson<Everything> FORM = RecordJson.of(Everything.class);

  @Test
  void itIsTheSameAfterTheWire() {
    JsonObject wire = new JsonObject(FORM.write(FULL).toBuffer());
    assertThat(FORM.read(wire)).isEqualTo(FULL);
    assertThat(FORM.readStrictly(wire)).isEqualTo(FULL);
    assertThat(wire.getString("kind")).isEqualTo("group-rate");
    assertThat(wire.getString("name")).as("the field of an inline record").isEqualTo("y");
    assertThat(wire.fieldNames()).containsExactlyElementsOf(FORM.fields());
  }

  private static JsonObject least() {
    return new JsonObject()
        .put("text", "a")
        .put("number", 1)
        .put("kind", "topic")
        .put("items", new JsonArray())
        .put("counts", new JsonObject())
        .put("name", "y");
  }

  @Test
  void whatIsLeftOutIsNothingOrTheDefault() {
    Everything read = FORM.readStrictly(least());
    assertThat(read.perhaps()).isNull();
    assertThat(read.usual()).isEqualTo(7);
    assertThat(read.flag()).isFalse();
    assertThat(read.seldom()).isNull();
    assertThat(read.zero()).isZero();
    assertThat(read.none()).isEmpty();
    JsonObject written = FORM.write(read);
    assertThat(written.fieldNames()).doesNotContain("seldom", "zero", "none").contains("perhaps");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "text; 3; the field 'text' is 3: it must be a string",
        "number; 6; the field 'number' is 6: it must be a whole number from 1 to 5",
        "number; 1.5; the field 'number' is 1.5: it must be a whole number from 1 to 5",
        "number; null; the field 'number' is missing: it must be a whole number from 1 to 5",
        "text; null; the field 'text' is missing",
        "flag; 1; the field 'flag' is 1: it must be true or false",
        "kind; \"shard\"; the field 'kind' is 'shard': it must be one of producer, principal",
        "time; \"noon\"; the field 'time' is 'noon': it must be a time",
        "items; 3; the field 'items' is 3: it must be an array",
        "items; [null]; the field 'items[0]' is null: it must be an object with name",
        "items; [{\"name\":\"x\"},3]; the field 'items[1]' is 3: it must be an object with name",
        "items; [{}]; the field 'items[0].name' is missing: it must be a string",
        "items; [{\"nmae\":1}]; unknown field 'items[0].nmae': did you mean 'items[0].name'?",
        "counts; {\"k\":\"v\"}; the field 'counts.k' is 'v': it must be a whole number",
        "flg; true; unknown field 'flg': did you mean 'flag'?",
      })
  void whatIsWrongIsRefusedInWords(String field, String value, String words) {
    JsonObject json = least().put(field, new JsonArray("[" + value + "]").getValue(0));
    assertThatThrownBy(() -> FORM.readStrictly(json)).hasMessageContaining(words);
  }

  /** What is seldom needed. */
  public record Special(
      @NotEmpty List<String> names,
      @AlsoNumber @Default("earliest") String from,
      @Nullable TextOrBytes text,
      Map<String, TextOrBytes> headers,
      @Inline @Nullable Item perhaps,
      @Caller @Nullable String user) {}

  private static final RecordJson<Special> SPECIAL = RecordJson.of(Special.class);

  private static JsonObject special(String text, String base64, Item perhaps) {
    Special written =
        new Special(
            List.of("a"),
            "7",
            text == null && base64 == null ? null : new TextOrBytes(text, base64),
            Map.of("h", TextOrBytes.of("v"), "b", new TextOrBytes(null, "/w==")),
            perhaps,
            null);
    JsonObject wire = new JsonObject(SPECIAL.write(written).toBuffer());
    assertThat(SPECIAL.readStrictly(wire)).isEqualTo(written);
    return wire;
  }

  @Test
  void aFieldIsLeftOutIfTheOtherOneIsThere() {
    assertThat(special("x", null, null).fieldNames()).contains("text").doesNotContain("textBase64");
    assertThat(special(null, null, null).fieldNames()).contains("text");
    assertThat(special(null, "/w==", null).fieldNames())
        .contains("textBase64")
        .doesNotContain("text");
  }

  @Test
  void theFieldsOfAnInlineRecordAreThereOnlyIfItIs() {
    assertThat(special("x", null, null).fieldNames()).doesNotContain("name");
    assertThat(special("x", null, new Item("y")).getString("name")).isEqualTo("y");
  }

  @Test
  void aHeaderIsATextOrBytes() {
    JsonObject headers = special("x", null, null).getJsonObject("headers");
    assertThat(headers).isEqualTo(new JsonObject("{\"h\":\"v\",\"b\":{\"base64\":\"/w==\"}}"));
    JsonObject wrong = special("x", null, null).put("headers", new JsonObject().put("h", 1));
    assertThatThrownBy(() -> SPECIAL.readStrictly(wrong))
        .hasMessage("the field 'headers.h' is 1: it must be a string or {\"base64\": \"...\"}");
  }

  @Test
  void aListMayNeedAnItem() {
    JsonObject none = special("x", null, null).put("names", new JsonArray());
    Fails.saying(
        () -> SPECIAL.readStrictly(none),
        "the field 'names' is []: it must be an array with one item at least, and each item of"
            + " it a string");
  }

  @Test
  void aTextMayBeSentAsANumber() {
    JsonObject number = special("x", null, null).put("from", 12);
    assertThat(SPECIAL.readStrictly(number).from()).isEqualTo("12");
    number.remove("from");
    assertThat(SPECIAL.readStrictly(number).from()).isEqualTo("earliest");
  }

  @Test
  void aListThatAFormerVersionDoesNotSendIsEmpty() {
    JsonObject former = least();
    former.remove("items");
    former.remove("counts");
    assertThat(FORM.read(former).items()).isEmpty();
    assertThat(FORM.read(former).counts()).isEmpty();
    assertThatThrownBy(() -> FORM.readStrictly(former))
        .hasMessage(
            "the field 'items' is missing: it must be an array, and each item of it an object"
                + " with name");
  }

  @Test
  void aLaterVersionMayHaveMoreFields() {
    JsonObject later = new JsonObject(FORM.write(FULL).toBuffer()).put("new", 1);
    later.getJsonArray("items").getJsonObject(0).put("new", 1);
    assertThat(FORM.read(later)).isEqualTo(FULL);
  }

  /** Fields that are not simply the values of their components. */
  public record Odd(
      @Nullable TextOrBytes key,
      TextOrBytes payload,
      Map<String, TextOrBytes> headers,
      @Inline @Nullable Item perhaps,
      @Bounds(max = 3) @Nullable String brief,
      @AlsoNumber @Nullable String at) {}

  private static final RecordJson<Odd> ODD = RecordJson.of(Odd.class);

  private static Odd odd(byte[] key, byte[] payload, Item perhaps) {
    Map<String, byte[]> headers = Map.of("h", payload);
    return new Odd(
        TextOrBytes.of(key), TextOrBytes.of(payload), TextOrBytes.of(headers), perhaps, null, null);
  }

  @Test
  void bytesAreTextOrBase64() {
    byte[] text = "ä".getBytes(StandardCharsets.UTF_8);
    byte[] other = {(byte) 0xff};
    Odd texts = odd(text, text, null);
    Odd others = odd(other, other, new Item("x"));
    Odd none = odd(null, other, null);
    String end = ",\"brief\":null,\"at\":null}";
    assertThat(ODD.write(texts).encode())
        .isEqualTo("{\"key\":\"ä\",\"payload\":\"ä\",\"headers\":{\"h\":\"ä\"}" + end);
    String coded = "\"payloadBase64\":\"/w==\",\"headers\":{\"h\":{\"base64\":\"/w==\"}}";
    assertThat(ODD.write(others).encode())
        .isEqualTo("{\"keyBase64\":\"/w==\"," + coded + ",\"name\":\"x\"" + end);
    assertThat(ODD.write(none).encode()).isEqualTo("{\"key\":null," + coded + end);
    for (Odd each : List.of(texts, others, none)) {
      assertThat(ODD.readStrictly(new JsonObject(ODD.write(each).toBuffer()))).isEqualTo(each);
    }
    assertThat(texts.payload().bytes()).isEqualTo(text);
    assertThat(others.payload().bytes()).isEqualTo(other);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "keyBase64; 3; the field 'keyBase64' is 3: it must be bytes as Base64",
        "keyBase64; \"&&&&\"; it must be bytes as Base64 (Illegal base64 character 26)",
        "headers; {\"h\":{\"base64\":\"&\"}}; the field 'headers.h.base64' is '&': it must be"
            + " bytes",
        "payloadBase64; \"/w==\"; give either payload or payloadBase64, not both",
        "payload; null; the field 'payload' (or 'payloadBase64') is missing",
        "payload; 3; the field 'payload' is 3: it must be a string",
        "headers; {\"h\":{}}; a string or {\"base64\": \"...\"}",
        "brief; \"long\"; it must be a string of at most 3 characters",
        "at; true; the field 'at' is true: it must be a string",
        "name; 5; the field 'name' is 5: it must be a string",
      })
  void whatIsWrongOfOddFieldsIsRefusedInWords(String field, String value, String words) {
    var json = new JsonObject().put("payload", "p").put("headers", new JsonObject()).put("at", 5);
    assertThat(ODD.readStrictly(json).at()).isEqualTo("5");
    json.put(field, new JsonArray("[" + value + "]").getValue(0));
    assertThatThrownBy(() -> ODD.readStrictly(json)).hasMessageContaining(words);
  }

  @ParameterizedTest
  @CsvSource({"number,5", "flag,true", "text,5", "text,true", "kind,topic"})
  void aTextIsReadByTheTypeOfItsField(String field, String text) {
    assertThat(String.valueOf(FORM.ofText("query parameter", field, text))).isEqualTo(text);
  }

  @Test
  void aWholeNumberMayBeWrittenInAnotherWay() {
    assertThat(FORM.ofText("query parameter", "number", "02")).isEqualTo(2);
    assertThat(FORM.readStrictly(least().put("number", 2.0)).number()).isEqualTo(2);
  }

  @Test
  void aTextOfAnotherTypeIsRefusedInWords() {
    assertThatThrownBy(() -> FORM.ofText("query parameter", "number", "x"))
        .hasMessageContaining("the query parameter 'number' is 'x': it must be a whole number");
  }
}
