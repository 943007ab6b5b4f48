package dev.evenkeel.client;

import dev.evenkeel.Evenkeel;
import dev.evenkeel.protocol.ClusterDefaults;
import dev.evenkeel.protocol.Nearest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** How {@link Evenkeel#connect} finds a cluster; from and to JSON, in the way of Vert.x options. */
public class ClientOptions {
  private List<String> seeds = List.of(ClusterDefaults.HOST + ":" + ClusterDefaults.PORT);
  private String host;
  private String clusterName = ClusterDefaults.CLUSTER_NAME;
  private long connectTimeoutMillis = ClusterDefaults.CONNECT_TIMEOUT_MILLIS;

  public ClientOptions() {}

  /**
   * @throws dev.evenkeel.protocol.RefusedException INVALID for an unknown key
   */
  public ClientOptions(JsonObject json) {
    Nearest.requireKnown(
        "client option", json.fieldNames(), new ClientOptions().toJson().fieldNames());
    JsonArray array = json.getJsonArray("seeds");
    if (array != null) {
      List<String> texts = new ArrayList<>();
      array.forEach(seed -> texts.add((String) seed));
      seeds = List.copyOf(texts);
    }
    host = json.getString("host");
    clusterName = json.getString("clusterName", clusterName);
    connectTimeoutMillis = json.getLong("connectTimeoutMillis", connectTimeoutMillis);
  }

  public JsonObject toJson() {
    return new JsonObject()
        .put("seeds", new JsonArray(new ArrayList<>(seeds)))
        .put("host", host)
        .put("clusterName", clusterName)
        .put("connectTimeoutMillis", connectTimeoutMillis);
  }

  public List<String> getSeeds() {
    return seeds;
  }

  /** Nodes to join by, as HOST:PORT; one that answers is enough. Default 127.0.0.1:5701. */
  public ClientOptions setSeeds(List<String> seeds) {
    this.seeds = List.copyOf(seeds);
    return this;
  }

  public String getHost() {
    return host;
  }

  /**
   * The address of this machine that nodes can reach; it is listened on at free ports. Null, the
   * default: the one by which the seed is reached.
   */
  public ClientOptions setHost(String host) {
    this.host = host;
    return this;
  }

  public String getClusterName() {
    return clusterName;
  }

  public ClientOptions setClusterName(String clusterName) {
    this.clusterName = clusterName;
    return this;
  }

  public long getConnectTimeoutMillis() {
    return connectTimeoutMillis;
  }

  /** How long the first connection is tried. A later one, after a loss, is tried for ever. */
  public ClientOptions setConnectTimeoutMillis(long connectTimeoutMillis) {
    this.connectTimeoutMillis = connectTimeoutMillis;
    return this;
  }
}
