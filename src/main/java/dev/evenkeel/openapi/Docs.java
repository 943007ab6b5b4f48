package dev.evenkeel.openapi;

import com.github.therapi.runtimejavadoc.Comment;
import com.github.therapi.runtimejavadoc.CommentText;
import com.github.therapi.runtimejavadoc.CommentVisitor;
import com.github.therapi.runtimejavadoc.Link;
import com.github.therapi.runtimejavadoc.ParamJavadoc;
import com.github.therapi.runtimejavadoc.RuntimeJavadoc;
import com.github.therapi.runtimejavadoc.Value;

/** The doc comments of records, as plain text. */
final class Docs {
  private Docs() {}

  /** What a record is; null: nothing is said of it. */
  static String of(Class<?> type) {
    return text(RuntimeJavadoc.getJavadoc(type).getComment());
  }

  /** What a component of a record is; null: nothing is said of it. */
  static String of(Class<?> type, String component) {
    for (ParamJavadoc each : RuntimeJavadoc.getJavadoc(type).getRecordComponents()) {
      if (each.getName().equals(component)) {
        return text(each.getComment());
      }
    }
    return null;
  }

  private static String text(Comment comment) {
    StringBuilder text = new StringBuilder();
    comment.visit(
        new CommentVisitor() {
          @Override
          public void commentText(String value) {
            text.append(value);
          }

          @Override
          public void inlineLink(Link link) {
            text.append(link.getLabel());
          }

          @Override
          public void inlineTag(String name, String value) {
            text.append(value);
          }

          @Override
          public void inlineValue(Value value) {
            text.append(value);
          }
        });
    String plain = text.toString().replaceAll("<\\w+>|</\\w+>", "").replaceAll("\\s+", " ").strip();
    boolean beginsWithText =
        !comment.getElements().isEmpty() && comment.getElements().get(0) instanceof CommentText;
    return plain.isEmpty()
        ? null
        : beginsWithText ? Character.toUpperCase(plain.charAt(0)) + plain.substring(1) : plain;
  }

  /** The first sentence, without its period. */
  static String first(String text) {
    int end = text.indexOf(". ");
    return end >= 0
        ? text.substring(0, end)
        : text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }

  /** What comes after the first sentence; empty if nothing does. */
  static String rest(String text) {
    int end = text.indexOf(". ");
    return end < 0 ? "" : text.substring(end + 2);
  }
}
