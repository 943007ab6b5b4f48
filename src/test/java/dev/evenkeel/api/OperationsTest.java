package dev.evenkeel.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.json.JsonObject;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each row says all that is known of an operation. */
class OperationsTest {
  private static List<Operation<?, ?>> all() {
    return Operations.all();
  }

  @ParameterizedTest
  @MethodSource("all")
  <Q extends Record, A> void itsExamplesAreTheSameAfterTheWire(Operation<Q, A> operation) {
    JsonObject asked = new JsonObject(operation.ask(operation.questionExample()).toBuffer());
    assertThat(operation.question(asked)).isEqualTo(operation.questionExample());
    if (operation.address() != null) {
      assertThat(Operations.of(operation.address(), asked)).isSameAs(operation);
    }
    A answer = operation.answerExample();
    assertThat(operation.readAnswer(operation.writeAnswer(answer))).isEqualTo(answer);
  }

  private static List<Operation<?, ?>> withFields() {
    return all().stream()
        .filter(each -> each.action() != null || !each.fields().isEmpty())
        .toList();
  }

  @ParameterizedTest
  @MethodSource("withFields")
  void aFieldThatItDoesNotHaveIsRefusedWithTheNearestName(Operation<?, ?> operation) {
    boolean hasAction = operation.action() != null;
    String field = hasAction ? "action" : RecordJson.of(operation.questionType()).fields().get(0);
    String wrong = field.substring(0, 3) + field.charAt(4) + field.charAt(3) + field.substring(5);
    JsonObject asked = new JsonObject().put(wrong, operation.action());
    assertThatThrownBy(() -> operation.question(asked))
        .hasMessageContaining("unknown field '%s': did you mean '%s'?", wrong, field);
  }

  @Test
  void theNumberOfShardsIsNoSetting() {
    JsonObject asked = JsonObject.of("action", "configure", "name", "t", "shards", 2);
    assertThatThrownBy(() -> Operations.CONFIGURE_TOPIC.question(asked))
        .hasMessageContaining("to change it, reshard the topic");
  }

  @Test
  void whatIsBesideManyMessagesIsNoMessage() {
    JsonObject asked =
        new JsonObject("{'topic':'t','key':'k','messages':[{'payload':'x'}]}".replace('\'', '"'));
    Produce read = Operations.PRODUCE.question(asked);
    assertThat(read.message()).isNull();
    assertThat(read.messages()).hasSize(1);
  }

  @Test
  void whatIsWrongIsNamedWithItsPlaceAndWhatIsRight() {
    refused(
        Operations.DROP_DEAD_LETTERS,
        "{'group':'g','deadLetters':[1]}",
        "the field 'deadLetters[0]' is 1: it must be a string: topic/shard/offset, like"
            + " orders/2/17");
    refused(
        Operations.PLAN_GROUP,
        "{'group':'g','shards':{'t':0}}",
        "the field 'shards.t' is 0: it must be a whole number from 1 to 10000");
    refused(
        Operations.GIVE_RESULTS,
        "{'group':'g','session':'s','done':[1]}",
        "the field 'done[0]' is 1: it must be an object with topic, shard, offset, epoch");
    refused(
        Operations.PRODUCE,
        "{'topic':'t','messages':[1]}",
        "the field 'messages[0]' is 1: it must be an object with key");
    refused(
        Operations.PRODUCE,
        "{'topic':'t','payload':'p','headers':{'a':1}}",
        "the field 'headers.a' is 1: it must be a string or {\"base64\": \"...\"}");
    refused(
        Operations.BROWSE,
        "{'topic':'t','shard':1048576}",
        "it must be a whole number from 0 to 1048575");
    refused(
        Operations.OPEN_SESSION,
        "{'group':'g'}",
        "the field 'topics' is missing: it must be an array with one item at least");
  }

  private static void refused(Operation<?, ?> operation, String json, String words) {
    JsonObject asked = operation.withAction(new JsonObject(json.replace('\'', '"')));
    assertThatThrownBy(() -> operation.question(asked)).hasMessageContaining(words);
  }

  @ParameterizedTest
  @MethodSource("all")
  void theParametersOfItsPathAreFields(Operation<?, ?> operation) {
    List<String> parameters = operation.parameters().stream().map(operation::field).toList();
    assertThat(RecordJson.of(operation.questionType()).fields()).containsAll(parameters);
  }

  @ParameterizedTest
  @MethodSource("all")
  void noOtherOneIsAskedInTheSameWay(Operation<?, ?> operation) {
    Set<Object> ways = new HashSet<>();
    for (Operation<?, ?> each : all()) {
      if (each != operation) {
        ways.add(each.method() == null ? "none" : each.method() + " " + each.path());
        ways.add(each.questionType().getSimpleName());
        ways.add(each.toString());
      }
    }
    assertThat(ways)
        .doesNotContain(
            operation.method() + " " + operation.path(),
            operation.questionType().getSimpleName(),
            operation.toString());
  }
}
