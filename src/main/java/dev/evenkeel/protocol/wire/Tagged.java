package dev.evenkeel.protocol.wire;

import static dev.evenkeel.protocol.Refusal.WRONG_VERSION;

import dev.evenkeel.protocol.MalformedException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The bytes of a sealed type whose members are records: a tag, then the components. A record may
 * have several forms, each with its own tag; it is written in the first form that fits.
 */
public final class Tagged<T> implements Codec<T> {
  /**
   * @param level the {@link FeatureLevel} that reads the tag
   */
  private record Form<T>(int level, int tag, Class<T> type, RecordLayout<T> layout) {}

  private final String what;
  private final Map<Class<?>, List<Form<T>>> byType = new HashMap<>();
  private final Map<Integer, Form<T>> byTag = new HashMap<>();

  /**
   * @param what the type's name, for people
   */
  public Tagged(String what) {
    this.what = what;
  }

  public Tagged<T> add(int tag, Class<? extends T> type, Codec<?>... components) {
    return since(FeatureLevel.FIRST, tag, type, components);
  }

  /** Adds a form that nodes read from a {@link FeatureLevel} on. */
  @SuppressWarnings("unchecked")
  public Tagged<T> since(int level, int tag, Class<? extends T> type, Codec<?>... components) {
    Class<T> member = (Class<T>) type;
    Form<T> form = new Form<>(level, tag, member, new RecordLayout<>(member, components));
    byType.computeIfAbsent(type, any -> new ArrayList<>()).add(form);
    if (byTag.put(tag, form) != null) {
      throw new IllegalArgumentException(what + " " + tag + " has two meanings");
    }
    return this;
  }

  /**
   * @throws IllegalArgumentException if a member of the type has no form
   */
  public Tagged<T> completeFor(Class<T> type) {
    for (Class<?> member : type.getPermittedSubclasses()) {
      if (!byType.containsKey(member)) {
        throw new IllegalArgumentException("there is no tag for " + member);
      }
    }
    return this;
  }

  @Override
  public void write(Bytes out, T value) {
    Form<T> form = form(value);
    form.layout().write(out.u8(form.tag()), value);
  }

  @Override
  public int level(T value) {
    Form<T> form = form(value);
    return Math.max(form.level(), form.layout().level(value));
  }

  /** The form in which a value is written. */
  private Form<T> form(T value) {
    List<Form<T>> forms = Objects.requireNonNull(byType.get(value.getClass()));
    Object[] components = forms.get(0).layout().values(value);
    for (Form<T> form : forms) {
      if (form.layout().fit(components)) {
        return form;
      }
    }
    throw new IllegalStateException("no form has bytes for " + value);
  }

  @Override
  public T read(ByteReader in) {
    return form(in.u8()).layout().read(in);
  }

  /** The type of what comes next. Does not move the reader. */
  Class<T> next(ByteReader in) {
    return form(new ByteReader(in.rest()).u8()).type();
  }

  private Form<T> form(int tag) {
    Form<T> form = byTag.get(tag);
    if (form == null) {
      throw new MalformedException(WRONG_VERSION, "unknown " + what + " " + tag);
    }
    return form;
  }
}
