package dev.evenkeel.api;

import dev.evenkeel.protocol.ClusterUser;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Adds a user that the cluster keeps, or changes one. What is absent stays as it is. Nodes take it
 * up within two seconds. Whoever asks needs all permissions itself that the user has and gets. If
 * these are for producing or for groups, that includes producer:NAME and producer:NAME-* of the
 * user.
 *
 * @param name name of the user
 * @param may what it may do, such as produce:orders. A new user may do nothing without it
 * @param certificate common name of the certificates of its programs; empty: none
 * @param share how much it gets of what is scarce, beside others: from 0.1 to 100, 1 is usual
 * @param by who asks; null: nobody in particular
 */
@Body("UserSettings")
public record PutUser(
    String name,
    @Nullable List<String> may,
    @Bounds(max = ClusterUser.CERTIFICATE_CHARS_MAX) @Nullable String certificate,
    @Nullable Double share,
    @Caller @Nullable String by) {}
