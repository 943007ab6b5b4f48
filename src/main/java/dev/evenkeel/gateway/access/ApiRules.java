package dev.evenkeel.gateway.access;

import dev.evenkeel.api.Need;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.api.TextOrBytes;
import dev.evenkeel.protocol.ClusterUser;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

/** Who may ask what at the {@code evenkeel.api} addresses, and what they see of the answers. */
public final class ApiRules {
  /**
   * The fields of questions that people are shown, beside the numbers of what changes something.
   * All others may hold keys or contents of messages, or secrets.
   */
  private static final List<String> SHOWN =
      List.of(
          ("kind name group election topic topics shard id node to force all deadLetters member"
                  + " copySettingsFrom address may certificate share expires")
              .split(" "));

  private static final String MAY = "may";
  private static final int MAY_CHARS_MAX = 200;

  private ApiRules() {}

  /**
   * Checks a question.
   *
   * @throws RefusedException FORBIDDEN, naming the permission that is missing
   */
  public static void check(Principal principal, String address, JsonObject question) {
    if (!principal.bound()) {
      return;
    }
    Operation<?, ?> operation = operation(address, question);
    if (operation != null) {
      operation.needs(question).forEach(principal::require);
      return;
    }
    principal.require(Kind.ADMIN, Need.NO_NAME);
    if (Operations.all().stream().noneMatch(each -> address.equals(each.address()))) {
      throw principal.denied("that no user can have");
    }
  }

  /**
   * The part of an answer that the principal may see.
   *
   * @throws RefusedException FORBIDDEN if it may not see a message in it any more
   */
  public static Object visible(
      Principal principal, String address, JsonObject question, Object answer) {
    Operation<?, ?> operation = operation(address, question);
    if (operation != null && principal.bound() && answer instanceof JsonObject given) {
      operation.needsForAnswer(given).forEach(principal::require);
    }
    if (operation == null || !principal.bound()) {
      return answer;
    }
    Object seen =
        principal.seesAll() || !(answer instanceof JsonArray list)
            ? answer
            : only(list, each -> sees(principal, operation.needToSee(each)));
    return operation.contents().isEmpty()
        ? seen
        : seen instanceof JsonArray list
            ? new JsonArray(
                list.stream()
                    .map(each -> readable(principal, operation, question, (JsonObject) each))
                    .toList())
            : readable(principal, operation, question, (JsonObject) seen);
  }

  /** An item of an answer without contents of messages that the principal may not read. */
  private static JsonObject readable(
      Principal principal, Operation<?, ?> operation, JsonObject question, JsonObject item) {
    if (operation.readContents(question, item).anyMatch(principal::has)) {
      return item;
    }
    JsonObject without = item.copy();
    for (String field : operation.contents()) {
      without.remove(TextOrBytes.coded(field));
      without.putNull(field);
    }
    return without;
  }

  private static boolean sees(Principal principal, Need need) {
    return need == null || principal.has(need);
  }

  private static Operation<?, ?> operation(String address, JsonObject question) {
    return Operations.find(address, question.getValue(Operation.ACTION));
  }

  private static JsonArray only(JsonArray list, Predicate<JsonObject> visible) {
    List<JsonObject> kept = list.stream().map(JsonObject.class::cast).filter(visible).toList();
    return new JsonArray(kept);
  }

  /** Whether a question changes something beside messages, and for whom: an administrative act. */
  public static boolean changes(String address, JsonObject question) {
    Operation<?, ?> operation = operation(address, question);
    return operation != null && operation.changes(question);
  }

  /** A question in a few words, for people. */
  public static String words(String address, JsonObject question) {
    Operation<?, ?> operation = operation(address, question);
    StringBuilder words =
        new StringBuilder(
            operation == null
                ? address.substring(address.lastIndexOf('.') + 1)
                : operation.toString());
    List<String> shown = new ArrayList<>(SHOWN);
    if (operation == null) {
      shown.add(0, Operation.ACTION);
    } else if (operation.changes(question)) {
      operation.numbers().stream().filter(each -> !shown.contains(each)).forEach(shown::add);
    }
    for (String key : shown) {
      Object value = question.getValue(key);
      if (value != null) {
        words.append(key.equals(Operation.ACTION) ? " " : " " + key + "=");
        words.append(
            value instanceof JsonArray list && key.equals(MAY) && list.size() <= ClusterUser.MAY_MAX
                ? widestFirst(list)
                : shortened(Objects.toString(value)));
      }
    }
    return words.toString();
  }

  /**
   * Permissions, so that many narrow ones cannot keep a wide one out of the audit log: those for
   * most names come first, and a number says how many there are.
   */
  private static String widestFirst(JsonArray may) {
    List<String> sorted =
        may.stream()
            .map(String::valueOf)
            .sorted(
                Comparator.comparing((String each) -> !each.endsWith("*"))
                    .thenComparing(each -> each.length() - each.indexOf(':'))
                    .thenComparing(Comparator.naturalOrder()))
            .toList();
    String text = new JsonArray(sorted).encode();
    return text.length() <= MAY_CHARS_MAX
        ? text
        : text.substring(0, MAY_CHARS_MAX) + "… (" + may.size() + " in all)";
  }

  private static String shortened(String text) {
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }
}
