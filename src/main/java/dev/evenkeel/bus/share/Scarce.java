package dev.evenkeel.bus.share;

import java.util.Locale;

/** What is scarce, and divided among users. */
public enum Scarce {
  SESSIONS("sessions over HTTP"),
  CLAIMS("claims"),
  CANDIDATES("candidates"),
  TRACKS("tracks"),
  LISTENING("addresses to listen at"),
  CONNECTIONS("connections at the client port"),
  HTTP_CONNECTIONS("HTTP connections"),
  BYTES_IN_FLIGHT("bytes in flight"),
  HTTP_BYTES_IN_FLIGHT("bytes of the bodies of HTTP requests under way"),
  BYTES_ARRIVING("bytes of requests that have not come whole"),
  LOGINS("log-ins of browsers"),
  FETCH_BYTES("bytes for fetches that wait"),
  GROUP_LOOKS("questions about groups under way"),
  READS("reads of the disk that wait"),
  UNPACKING("bytes of compressed batches that are being checked"),
  REPLICA_WAITS("requests that wait for all replicas"),
  SESSION_BYTES("bytes for messages that wait in sessions");

  private final String words;

  Scarce(String words) {
    this.words = words;
  }

  /** In plural, as errors have it. */
  public String words() {
    return words;
  }

  /** The label of metrics, and the name in the API. */
  public String label() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
