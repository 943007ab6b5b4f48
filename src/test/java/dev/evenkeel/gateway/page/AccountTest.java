package dev.evenkeel.gateway.page;

import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.options.ColorScheme;
import org.junit.jupiter.api.Test;

/**
 * Who the page belongs to, when the answers of the node come in another order than the questions.
 */
class AccountTest extends PageBase {
  /** Gives the test the answers of the node to give, in its own order. */
  private static final String PREPARE =
      """
      async () => {
        const { Account } = await import(new URL('assets/js/account.js', document.baseURI).href);
        const waiting = [];
        window.fetch = () => new Promise((resolve) => waiting.push(resolve));
        window.answer = async (index, status, body) => {
          waiting[index]({ ok: status === 200, status, json: async () => body });
          await new Promise((resolve) => setTimeout(resolve));
        };
        window.account = new Account('api/session', () => {});
      }
      """;

  private Object after(String script) {
    visit(ColorScheme.DARK, Facts.empty());
    visit.page().evaluate(PREPARE);
    return visit
        .page()
        .evaluate("async () => { " + script + " return `${account.locked} ${account.user}`; }");
  }

  @Test
  void anAnswerFromBeforeTheLoginDoesNotLockThePage() {
    assertThat(
            after(
                """
                account.look();
                account.enter('token');
                await answer(1, 200, { user: 'amber', may: ['view:*'] });
                await answer(0, 401, { message: 'no session' });
                """))
        .isEqualTo("false amber");
  }

  @Test
  void anAnswerFromDuringTheLoginDoesNotLockThePage() {
    assertThat(
            after(
                """
                account.enter('token');
                account.look();
                await answer(0, 200, { user: 'amber', may: ['view:*'] });
                await answer(1, 401, { message: 'no session' });
                """))
        .isEqualTo("false amber");
  }

  @Test
  void anAnswerFromBeforeTheLogoutDoesNotOpenThePage() {
    assertThat(
            after(
                """
                account.look();
                account.leave();
                await answer(1, 200, {});
                await answer(0, 200, { user: 'amber', may: ['view:*'] });
                """))
        .isEqualTo("true null");
  }

  @Test
  void aLaterAnswerIsTaken() {
    assertThat(
            after(
                """
                account.enter('token');
                await answer(0, 200, { user: 'amber', may: ['view:*'] });
                account.look();
                await answer(1, 401, { message: 'no session' });
                """))
        .isEqualTo("true null");
  }
}
