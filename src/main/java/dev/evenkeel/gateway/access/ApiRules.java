package dev.evenkeel.gateway.access;

import dev.evenkeel.api.Need;
import dev.evenkeel.api.Operation;
import dev.evenkeel.api.Operations;
import dev.evenkeel.api.Permission.Kind;
import dev.evenkeel.bus.Addresses;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;

/** Who may ask what at the {@code evenkeel.api} addresses, and what they see of the answers. */
public final class ApiRules {
  private static final Set<String> CHANGES =
      Set.of(
          "replay", "drop");

  /** The fields of a question that people are shown, in this order. */
  private static final List<String> SHOWN =
      List.of(
          "action",
          "kind",
          "name",
          "group",
          "topic",
          "shard",
          "id",
          "to",
          "force",
          "all",
          "deadLetters");

  /** A name that no permission but {@code *} covers. */
  private static final String NO_NAME = "";

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
    String action = action(question);
    switch (address) {
      case Addresses.API_PRODUCE -> principal.require(Kind.PRODUCE, text(question, "topic"));
      case Addresses.API_GROUPS -> groups(principal, action, question);
      default -> {
        principal.require(Kind.ADMIN, NO_NAME);
        if (Operations.all().stream().noneMatch(each -> address.equals(each.address()))) {
          throw principal.denied("that no user can have");
        }
      }
    }
  }

  private static void groups(Principal principal, String action, JsonObject question) {
    String group = text(question, "group");
    switch (action) {
      // They have payloads, or are about single messages.
      case "dead-letters", "dead-letter", "retries" -> {
        if (!principal.may(Kind.GROUP, group) && !principal.may(Kind.ADMIN, group)) {
          throw principal.denied("group:" + group);
        }
      }
      default -> principal.require(Kind.ADMIN, group);
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
    return operation == null || principal.seesAll() || !(answer instanceof JsonArray list)
        ? answer
        : only(list, each -> sees(principal, operation.needToSee(each)));
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
    if (operation != null) {
      return operation.changes(question);
    }
    return !address.equals(Addresses.API_PRODUCE)
        && CHANGES.contains(action(question))
        && !Boolean.TRUE.equals(question.getValue("dryRun"));
  }

  /** A question in a few words, for people. */
  public static String words(String address, JsonObject question) {
    Operation<?, ?> operation = operation(address, question);
    StringBuilder words =
        new StringBuilder(
            operation == null
                ? address.substring(address.lastIndexOf('.') + 1)
                : operation.toString());
    List<String> shown = operation == null ? SHOWN : operation.fields();
    for (String key : shown) {
      Object value = question.getValue(key);
      if (value != null) {
        words.append(key.equals("action") ? " " : " " + key + "=");
        words.append(shortened(Objects.toString(value)));
      }
    }
    return words.toString();
  }

  private static String shortened(String text) {
    return text.length() <= 100 ? text : text.substring(0, 100) + "…";
  }

  private static String action(JsonObject question) {
    return question.getValue("action") instanceof String action ? action : "";
  }

  private static String text(JsonObject question, String field) {
    return question.getValue(field) instanceof String text ? text : NO_NAME;
  }
}
