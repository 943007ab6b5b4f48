package dev.evenkeel.api;

import static dev.evenkeel.api.Operation.text;
import static dev.evenkeel.api.Permission.Kind.ADMIN;

import dev.evenkeel.api.ClearQuota.ClearedQuota;
import dev.evenkeel.protocol.Quota;
import dev.evenkeel.protocol.QuotaKind;
import dev.evenkeel.protocol.Refusal;
import dev.evenkeel.protocol.RefusedException;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;

/** All operations of the API. */
public final class Operations {
  private static final String QUOTAS = "evenkeel.api.quotas";

  private Operations() {}

  // ---- Quotas

  private static final String ADMIN_QUOTA = "admin:NAME for a topic or group, else admin:*";

  private static final QuotaView LIMITED =
      QuotaView.of(Quota.perSecond(QuotaKind.TOPIC, "orders", 10 << 20, 0));

  public static final Operation<ListQuotas, List<QuotaView>> LIST_QUOTAS =
      Operation.listOf(QUOTAS, "list", ListQuotas.class, QuotaView.class)
          .get("/api/quotas")
          .shows(Operations::seeQuota)
          .example(new ListQuotas(), List.of(LIMITED));

  public static final Operation<SetQuota, QuotaView> SET_QUOTA =
      Operation.of(QUOTAS, "set", SetQuota.class, QuotaView.class)
          .put("/api/quotas/{kind}/{name}")
          .needs(ADMIN_QUOTA, Operations::adminQuota)
          .changes()
          .example(new SetQuota(QuotaKind.TOPIC, "orders", 10L << 20, null, null), LIMITED);

  public static final Operation<ClearQuota, ClearedQuota> CLEAR_QUOTA =
      Operation.of(QUOTAS, "clear", ClearQuota.class, ClearedQuota.class)
          .delete("/api/quotas/{kind}/{name}")
          .needs(ADMIN_QUOTA, Operations::adminQuota)
          .changes()
          .example(
              new ClearQuota(QuotaKind.TOPIC, "orders"),
              new ClearedQuota(QuotaKind.TOPIC, "orders", true));

  /** Permissions can cover the names of topics and groups, not those of producers and users. */
  private static Need adminQuota(JsonObject asked) {
    boolean named = Set.of("topic", "group", "group-rate").contains(text(asked, "kind"));
    return Need.of(named ? text(asked, "name") : Need.NO_NAME, ADMIN);
  }

  private static Need seeQuota(JsonObject quota) {
    String name = text(quota, "name");
    return switch (text(quota, "kind")) {
      case "topic" -> Need.seeTopic(name);
      case "group", "group-rate" -> Need.seeGroup(name);
      default -> Need.seeAll();
    };
  }

  // ---- All

  private static final List<Operation<?, ?>> ALL = List.of(LIST_QUOTAS, SET_QUOTA, CLEAR_QUOTA);

  public static List<Operation<?, ?>> all() {
    return ALL;
  }

  /** The operation of an address and action; null: there is none. */
  public static Operation<?, ?> find(String address, Object action) {
    for (Operation<?, ?> each : ALL) {
      if (each.address().equals(address) && each.action().equals(action)) {
        return each;
      }
    }
    return null;
  }

  /**
   * The operation that a question is of.
   *
   * @throws RefusedException INVALID if its address has no such action
   */
  public static Operation<?, ?> of(String address, JsonObject question) {
    Object action = question.getValue(Operation.ACTION);
    if (!(action instanceof String)) {
      throw Refusal.INVALID.error("the field 'action' is missing, or no string");
    }
    Operation<?, ?> found = find(address, action);
    if (found == null) {
      List<String> known =
          ALL.stream().filter(each -> each.address().equals(address)).map(Operation::action).toList();
      throw Refusal.INVALID.error(
          "unknown action '%s': use %s",
          action, String.join(", ", known).replaceFirst(", ([^,]*)$", " or $1"));
    }
    return found;
  }
}
