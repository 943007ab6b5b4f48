package dev.evenkeel.protocol;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A sorted map that never changes. One that differs in an entry shares all others with it, so that
 * a change of a large map costs little.
 *
 * <p>It is a treap: a search tree of the keys in which every node has a higher rank than those
 * below it (Aragon and Seidel, 1989). Ranks are random: nobody can choose keys that make the tree
 * deep.
 */
public final class SharedMap<K extends Comparable<? super K>, V> extends AbstractMap<K, V> {
  private record Node<K, V>(
      Map.Entry<K, V> entry,
      int rank,
      int size,
      @Nullable Node<K, V> left,
      @Nullable Node<K, V> right) {
    Node<K, V> with(@Nullable Node<K, V> newLeft, @Nullable Node<K, V> newRight) {
      return node(entry, rank, newLeft, newRight);
    }
  }

  private final @Nullable Node<K, V> root;

  private SharedMap(@Nullable Node<K, V> root) {
    this.root = root;
  }

  /** The same entries; the map itself if it is such a map. */
  @SuppressWarnings("unchecked")
  public static <K extends Comparable<? super K>, V> SharedMap<K, V> of(Map<K, V> entries) {
    if (entries instanceof SharedMap) {
      return (SharedMap<K, V>) entries;
    }
    List<Map.Entry<K, V>> sorted = new ArrayList<>(entries.entrySet());
    sorted.sort(Map.Entry.comparingByKey());
    // The nodes on the right edge of the tree, the lowest first: the next one comes to their right.
    Deque<Node<K, V>> edge = new ArrayDeque<>();
    for (Map.Entry<K, V> each : sorted) {
      Node<K, V> next = entry(each.getKey(), each.getValue());
      Node<K, V> below = null;
      while (!edge.isEmpty() && edge.peek().rank() < next.rank()) {
        below = edge.peek().with(edge.pop().left(), below);
      }
      edge.push(next.with(below, null));
    }
    Node<K, V> root = null;
    while (!edge.isEmpty()) {
      root = edge.peek().with(edge.pop().left(), root);
    }
    return new SharedMap<>(root);
  }

  /** The same with this value of the key. */
  public SharedMap<K, V> with(K key, V value) {
    return new SharedMap<>(put(root, entry(key, value)));
  }

  /** The same without the key. */
  public SharedMap<K, V> without(Object key) {
    return containsKey(key)
        ? new SharedMap<>(remove(Objects.requireNonNull(root), cast(key)))
        : this;
  }

  private static <K, V> Node<K, V> entry(K key, V value) {
    return node(Map.entry(key, value), ThreadLocalRandom.current().nextInt(), null, null);
  }

  private static <K, V> Node<K, V> node(
      Map.Entry<K, V> entry, int rank, @Nullable Node<K, V> left, @Nullable Node<K, V> right) {
    return new Node<>(entry, rank, 1 + size(left) + size(right), left, right);
  }

  private static int size(@Nullable Node<?, ?> node) {
    return node == null ? 0 : node.size();
  }

  private static <K extends Comparable<? super K>, V> Node<K, V> put(
      @Nullable Node<K, V> node, Node<K, V> fresh) {
    if (node == null) {
      return fresh;
    }
    int order = fresh.entry().getKey().compareTo(node.entry().getKey());
    if (order == 0) {
      return node(fresh.entry(), node.rank(), node.left(), node.right());
    }
    if (order < 0) {
      Node<K, V> left = put(node.left(), fresh);
      return left.rank() > node.rank()
          ? left.with(left.left(), node.with(left.right(), node.right()))
          : node.with(left, node.right());
    }
    Node<K, V> right = put(node.right(), fresh);
    return right.rank() > node.rank()
        ? right.with(node.with(node.left(), right.left()), right.right())
        : node.with(node.left(), right);
  }

  private static <K extends Comparable<? super K>, V> @Nullable Node<K, V> remove(
      Node<K, V> node, K key) {
    int order = key.compareTo(node.entry().getKey());
    if (order < 0) {
      return node.with(remove(Objects.requireNonNull(node.left()), key), node.right());
    }
    return order > 0
        ? node.with(node.left(), remove(Objects.requireNonNull(node.right()), key))
        : joined(node.left(), node.right());
  }

  private static <K, V> @Nullable Node<K, V> joined(
      @Nullable Node<K, V> left, @Nullable Node<K, V> right) {
    if (left == null || right == null) {
      return left == null ? right : left;
    }
    return left.rank() > right.rank()
        ? left.with(left.left(), joined(left.right(), right))
        : right.with(joined(left, right.left()), right.right());
  }

  private @Nullable Node<K, V> find(Object key) {
    K wanted = cast(key);
    Node<K, V> node = root;
    while (node != null) {
      int order = wanted.compareTo(node.entry().getKey());
      if (order == 0) {
        return node;
      }
      node = order < 0 ? node.left() : node.right();
    }
    return null;
  }

  /** As in every sorted map, the keys can be compared with all that it is asked for. */
  @SuppressWarnings("unchecked")
  private K cast(Object key) {
    return (K) key;
  }

  @Override
  public int size() {
    return size(root);
  }

  @Override
  public boolean containsKey(Object key) {
    return find(key) != null;
  }

  @Override
  public @Nullable V get(Object key) {
    Node<K, V> node = find(key);
    return node == null ? null : node.entry().getValue();
  }

  @Override
  public Set<Map.Entry<K, V>> entrySet() {
    return new AbstractSet<>() {
      @Override
      public int size() {
        return SharedMap.this.size();
      }

      @Override
      public Iterator<Map.Entry<K, V>> iterator() {
        return new InOrder<>(root);
      }
    };
  }

  private static final class InOrder<K, V> implements Iterator<Map.Entry<K, V>> {
    private final Deque<Node<K, V>> path = new ArrayDeque<>();

    InOrder(@Nullable Node<K, V> root) {
      down(root);
    }

    private void down(@Nullable Node<K, V> from) {
      for (Node<K, V> node = from; node != null; node = node.left()) {
        path.push(node);
      }
    }

    @Override
    public boolean hasNext() {
      return !path.isEmpty();
    }

    @Override
    public Map.Entry<K, V> next() {
      if (path.isEmpty()) {
        throw new NoSuchElementException();
      }
      Node<K, V> node = path.pop();
      down(node.right());
      return node.entry();
    }
  }
}
