package dev.evenkeel.client.internal.consume;

/**
 * What became of a request.
 *
 * @param value what it was answered with, if it has not failed
 * @param failure null: it has not failed
 */
public record Answer<R>(R value, Throwable failure) {
  public static <R> Answer<R> of(R value) {
    return new Answer<>(value, null);
  }

  public static <R> Answer<R> failed(Throwable failure) {
    return new Answer<>(null, failure);
  }
}
