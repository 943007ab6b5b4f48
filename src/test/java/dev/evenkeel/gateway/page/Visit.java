package dev.evenkeel.gateway.page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Page.GetByRoleOptions;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A person who looks at the page, and what is seen: roles, names and text, not how it is built. */
public final class Visit implements AutoCloseable {
  /** The machine may be busy; a page that works needs far less. */
  private static final double WAIT_MILLIS = Long.getLong("evenkeel.page.waitMillis", 60_000);

  /** What the notice says; the news say it otherwise. */
  private static final Pattern STALE =
      Pattern.compile("Stale: (the connection is lost|nothing has arrived)");

  /** Keeps what the page says: a sentence may be gone before anybody looks. */
  private static final String LISTEN =
      """
      window.heard = [];
      addEventListener('DOMContentLoaded', () => {
        let news = null;
        const observer = new MutationObserver(() => {
          if (news === null) {
            news = document.querySelector('[role=status][aria-label=News]');
            if (news === null) return;
            observer.disconnect();
            observer.observe(news, { subtree: true, childList: true, characterData: true });
          }
          window.heard.push(news.textContent);
        });
        observer.observe(document.body, { subtree: true, childList: true });
      });
      """;

  static {
    PlaywrightAssertions.setDefaultAssertionTimeout(WAIT_MILLIS);
  }

  private final BrowserContext context;
  private final Page page;
  private final List<String> errors = new ArrayList<>();
  private final List<String> requests = new ArrayList<>();

  public Visit(Browser browser, ColorScheme scheme, String url) {
    this(browser, scheme, ReducedMotion.NO_PREFERENCE, 1280, 800, url);
  }

  public Visit(
      Browser browser,
      ColorScheme scheme,
      ReducedMotion motion,
      int width,
      int height,
      String url) {
    context =
        browser.newContext(
            new Browser.NewContextOptions()
                .setColorScheme(scheme)
                .setReducedMotion(motion)
                .setViewportSize(width, height));
    context.addInitScript(LISTEN);
    page = context.newPage();
    page.setDefaultTimeout(WAIT_MILLIS);
    page.onPageError(errors::add);
    page.onConsoleMessage(
        message -> {
          // That the node refuses something is what some tests are about.
          String what = message.text() + " " + message.location();
          boolean expected = what.contains("/ws/live") || what.contains("/api/");
          if (message.type().equals("error") && !expected) {
            errors.add(message.text());
          }
        });
    page.onRequest(request -> requests.add(request.url()));
    page.onWebSocket(socket -> requests.add(socket.url()));
    page.navigate(url);
  }

  public Page page() {
    return page;
  }

  /** Errors of scripts, and what the browser refused to load. */
  public List<String> errors() {
    return errors;
  }

  public List<String> requests() {
    return requests;
  }

  public Locator shard(String name) {
    return page.getByRole(AriaRole.GRIDCELL, new GetByRoleOptions().setName(startsWith(name)));
  }

  public Locator lane(String consumer) {
    return page.getByRole(AriaRole.ROW, new GetByRoleOptions().setName(startsWith(consumer)));
  }

  /** The lane of a consumer, once it holds so many shards. */
  public Locator lane(String consumer, int shards) {
    return page.getByRole(
        AriaRole.ROW,
        new GetByRoleOptions()
            .setName(consumer + ", " + shards + (shards == 1 ? " shard" : " shards"))
            .setExact(true));
  }

  /** In the words of JavaScript, which has no quoting of its own. */
  private static Pattern startsWith(String name) {
    return Pattern.compile("^" + name.replaceAll("[^\\w-]", "\\\\$0") + ", ");
  }

  public Locator noOwner() {
    return lane("No owner");
  }

  public Locator details() {
    return page.getByRole(AriaRole.COMPLEMENTARY, new GetByRoleOptions().setName("Details"));
  }

  public Locator level(String group) {
    return region("Level of " + group);
  }

  public Locator region(String name) {
    return page.getByRole(AriaRole.REGION, new GetByRoleOptions().setName(name).setExact(true));
  }

  public Locator button(String name) {
    return page.getByRole(AriaRole.BUTTON, new GetByRoleOptions().setName(name).setExact(true));
  }

  public Locator dialog() {
    return page.getByRole(AriaRole.DIALOG);
  }

  public Locator banner() {
    return page.getByRole(AriaRole.BANNER);
  }

  public Locator table(String name) {
    return page.getByRole(
        AriaRole.REGION, new GetByRoleOptions().setName(name + ", table").setExact(true));
  }

  public void sees(Locator what) {
    assertThat(what).isVisible();
  }

  public void seesNoMore(Locator what) {
    assertThat(what).hasCount(0);
  }

  public void reads(Locator where, String text) {
    assertThat(where).containsText(text);
  }

  /** One of several words is there. */
  public void reads(Locator where, Pattern text) {
    assertThat(where).containsText(text);
  }

  /** The shard lies in the lane of its owner. */
  public void seesOwner(String shard, String consumer) {
    sees(lane(consumer).filter(holding(shard)));
  }

  private Locator.FilterOptions holding(String shard) {
    return new Locator.FilterOptions().setHas(shard(shard));
  }

  /** The page says it, or has said it since it was loaded. */
  public void hears(String sentence) {
    Locator news = page.getByRole(AriaRole.STATUS, new GetByRoleOptions().setName("News"));
    assertThat(news).hasCount(1);
    page.waitForFunction(
        "(sentence) => window.heard.some((said) => said.includes(sentence))", sentence);
  }

  public void seesLive() {
    sees(banner().getByText("live", new Locator.GetByTextOptions().setExact(true)));
    seesNoMore(page.getByText(STALE));
  }

  public void seesStale() {
    sees(banner().getByText("stale", new Locator.GetByTextOptions().setExact(true)));
    sees(page.getByText(STALE));
  }

  @Override
  public void close() {
    context.close();
  }
}
