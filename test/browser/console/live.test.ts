/** Live and quick: pages that refresh themselves, rows in a drawer, the palette, the keys and the theme, as a person uses them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Page, Route } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { chat } from "../../support/gateway/requests.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("live and quick", () => {
  let fleet: Fleet;
  let visitor: Visit;
  let page: Page;
  let base = "";
  let workspace = "";
  let key = { id: "", key: "" };
  const unique = crypto.randomUUID().slice(0, 8);
  const email = `live-${unique}@example.test`;

  beforeAll(async () => {
    fleet = await service();
    const operator = fleet.operator();
    workspace = (await operator.call<{ id: string }>("POST", "/workspaces", { name: `live-${unique}`, credit_usd: "5" })).id;
    await operator.call("POST", "/members", { workspace, email, role: "admin" });
    key = await operator.call("POST", "/keys", { workspace, owner: email, name: `Key ${unique}` });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true, width: 1_440 });
    page = visitor.page;
    await signIn(visitor, fleet, email);
    base = `/console/w/live-${unique}`;
    await visitor.open("/reference");
    await page.evaluate("localStorage.setItem('weir-drawer', 'on')");
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  /** Sends a request, and waits until it is in the log. @returns its id */
  async function send(): Promise<string> {
    const before = (await fleet.operator().log(`workspace=${workspace}`)).length;
    const body = { model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] };
    await (await chat({ url: fleet.url(), key: key.key, body })).text();
    await until(async () => (await fleet.operator().log(`workspace=${workspace}`)).length > before);
    return (await fleet.operator().log(`workspace=${workspace}`))[0]?.generation_id ?? "";
  }

  const row = (id: string) => page.locator(`tr:has(a[href$="${id}"])`);
  const focused = (): Promise<string | null> => page.evaluate("document.activeElement.getAttribute('href')");
  const path = (): string => new URL(page.url()).pathname;

  test("a request appears by itself on Requests and Home, and on neither while it is paused", async () => {
    await visitor.open(`${base}/requests`);
    await page.getByText("No requests yet.").waitFor();
    const first = await send();
    await row(first).waitFor();
    const live = page.getByRole("button", { name: "Live", exact: true });
    await live.click();
    expect(await live.getAttribute("aria-pressed")).toBe("false");
    await visitor.open(base);
    const asked = visitor.asked.length;
    const second = await send();
    // What a page that is not paused would do at once: it is seen again.
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    expect([await row(second).count(), visitor.asked.length]).toEqual([0, asked]);
    await live.click();
    await row(second).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  test("a notice of the page goes once it no longer holds, and the word about what the reader did stays", async () => {
    const notices = '<p class="notice bad" role="alert" data-announced>Late</p><div data-said><p data-announced>Saved</p></div>';
    const held = async (route: Route): Promise<void> => {
      const response = await route.fetch();
      const body = (await response.text()).replace('<p class="zone"', `${notices}$&`);
      await route.fulfill({ response, body });
    };
    await page.route(`${fleet.url()}${base}/requests`, held, { times: 1 });
    await visitor.open(`${base}/requests`);
    await page.getByText("Late", { exact: true }).waitFor();
    await send();
    await page.getByText("Late", { exact: true }).waitFor({ state: "detached" });
    expect([await page.getByText("Saved", { exact: true }).isVisible(), visitor.faults]).toEqual([true, []]);
  });

  test("nothing changes under a selection, and a focused row keeps its focus", async () => {
    await visitor.open(`${base}/requests`);
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('main h1'))");
    const id = await send();
    const asked = visitor.asked.length;
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    expect([await row(id).count(), visitor.asked.length]).toEqual([0, asked]);
    await page.evaluate("getSelection().removeAllRanges()");
    await page.locator("tbody th a").first().focus();
    const before = await focused();
    await row(id).waitFor();
    expect(await focused()).toBe(before);
  });

  test("a session that has ended is said, with the way back, and nothing more is asked", async () => {
    await visitor.open(`${base}/requests`);
    const cookies = await page.context().cookies();
    await page.context().clearCookies();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.locator("main").getByText("Your session has ended").first().waitFor();
    expect(await page.getByRole("link", { name: "Sign in" }).getAttribute("href")).toBe(
      `/console/sign-in?next=${encodeURIComponent(`${base}/requests`)}`,
    );
    expect(await page.getByRole("button", { name: "Live", exact: true }).getAttribute("aria-pressed")).toBe("false");
    await page.locator("tbody th a").first().click();
    await page.getByRole("dialog").getByText("Your session has ended").waitFor();
    await page.context().addCookies(cookies);
    expect(visitor.faults).toEqual([]);
  });

  test("a service that is lost for a moment is asked again; one that stays lost is said, and the switch begins anew", async () => {
    await visitor.open(`${base}/requests`);
    const lost = `${fleet.url()}${base}/requests`;
    let missed = 0;
    const refuse = async (route: Route): Promise<void> => {
      missed++;
      await route.abort("connectionrefused");
    };
    await page.route(lost, refuse, { times: 1 });
    await row(await send()).waitFor();
    expect(missed).toBe(1);
    await page.route(lost, refuse);
    const said = page.locator("[data-refresh-said]");
    await until(async () => {
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      return (await said.count()) > 0;
    });
    expect(await said.innerText()).toStartWith("The service does not answer");
    const live = page.getByRole("button", { name: "Live", exact: true });
    expect([await live.getAttribute("aria-pressed"), await visitor.audit()]).toEqual(["false", []]);
    await page.unroute(lost);
    await live.click();
    await row(await send()).waitFor();
    expect(await said.count()).toBe(0);
    expect(visitor.faults.splice(0).filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
  });

  test("a browser whose clock is years behind shows the service's times, with their year, and refreshes all the same", async () => {
    await visitor.open(`${base}/requests`);
    await page.evaluate(`{
      const Right = Date;
      const years = 3 * 366 * 86_400_000;
      globalThis.Date = class extends Right {
        constructor(...given) {
          super(...(given.length === 0 ? [Right.now() - years] : given));
        }
        static now() {
          return Right.now() - years;
        }
      };
    }`);
    const id = await send();
    await row(id).waitFor();
    const time = row(id).locator("time");
    const at = new Date((await time.getAttribute("datetime")) ?? "");
    expect(await time.innerText()).toContain(String(at.getFullYear()));
    expect(await time.innerText()).toContain(`:${String(at.getMinutes()).padStart(2, "0")}`);
    expect(visitor.faults).toEqual([]);
  });

  test("the dialog that removes the sample data passes the audit in both themes, and Escape leaves the data", async () => {
    await visitor.open(base);
    await page.getByRole("button", { name: "Load sample data" }).click();
    await page
      .getByRole("button", { name: "Remove it" })
      .or(page.getByRole("link", { name: "Remove it" }))
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      expect([colorScheme, await visitor.audit()]).toEqual([colorScheme, []]);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect([(await page.getByText("Sample data is loaded").count()) > 0, visitor.faults]).toEqual([true, []]);
  });

  test("a row opens beside its list: the address is its own, Back closes it, J and K walk, Escape returns the focus", async () => {
    const id = await send();
    await visitor.open(`${base}/requests`);
    await row(id).getByText("sandbox/echo").click();
    const drawer = page.getByRole("dialog");
    await drawer.getByRole("heading", { level: 2 }).first().waitFor();
    expect(path()).toBe(`${base}/requests/${id}`);
    expect(await visitor.audit()).toEqual([]);
    const ids: string[] = await page.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)");
    expect(ids.filter((one, index) => ids.indexOf(one) !== index)).toEqual([]);
    await page.keyboard.press("j");
    await page.waitForURL((url) => url.pathname !== `${base}/requests/${id}`);
    const below = path();
    await page.keyboard.press("k");
    expect([path(), below === path()]).toEqual([`${base}/requests/${id}`, false]);
    await page.keyboard.press("Escape");
    await page.waitForURL(fleet.url() + `${base}/requests`);
    expect([await drawer.count(), await focused()]).toEqual([0, `${base}/requests/${id}`]);
    await page.keyboard.press("Enter");
    await drawer.waitFor();
    await page.goBack();
    await drawer.waitFor({ state: "detached" });
    await page.goForward();
    await drawer.waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect([path(), await drawer.count()]).toEqual([`${base}/requests/${id}`, 0]);
    await page.goBack();
    await row(id).waitFor();
    expect([path(), visitor.faults]).toEqual([`${base}/requests`, []]);
  });

  test("the drawer of a request shares the address that opens for others, and a button copies it", async () => {
    const id = await send();
    await visitor.open(`${base}/requests`);
    await row(id).getByText("sandbox/echo").click();
    const drawer = page.getByRole("dialog");
    await drawer.getByText("Share", { exact: true }).focus();
    await page.keyboard.press("Enter");
    await drawer.getByText("opens on no other one").waitFor();
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    await drawer.getByRole("button", { name: "Copy Link" }).focus();
    await page.keyboard.press("Enter");
    await drawer.getByRole("button", { name: "Copied Link" }).waitFor();
    const shared = String(await page.evaluate("navigator.clipboard.readText()"));
    expect(shared).toBe(`${fleet.url()}/console/w/${workspace}/requests/${id}`);
    await page.goto(shared);
    await page.getByRole("heading", { level: 1, name: "Request" }).waitFor();
    await page.setViewportSize({ width: 320, height: 800 });
    await page.getByText("Share", { exact: true }).click();
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    await page.setViewportSize({ width: 1_440, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  test("what was typed in the drawer is not lost without a question", async () => {
    await visitor.open(`${base}/keys`);
    await page.getByRole("link", { name: `Key ${unique}` }).click();
    const edit = page.getByRole("button", { name: "Edit" });
    const editing = page.getByRole("dialog", { name: /^Edit/ });
    await edit.click();
    await editing.getByRole("textbox", { name: "Name" }).fill("Another name");
    const asked: string[] = [];
    page.once("dialog", (question) => {
      asked.push(question.message());
      void question.dismiss();
    });
    await page.keyboard.press("Escape");
    await until(async () => asked.length === 1);
    expect([await editing.isVisible(), asked]).toEqual([true, ["Close without saving what you typed?"]]);
    await editing.getByRole("button", { name: "Save" }).click();
    await page.getByText("The key is saved").first().waitFor();
    expect(path()).toBe(`${base}/keys/${key.id}`);
    await edit.click();
    await editing.getByRole("textbox", { name: "Name" }).fill(`Key ${unique}`);
    await editing.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("heading", { name: `Key ${unique}` })
      .first()
      .waitFor();
  });

  test("a form in the drawer outlives its session: it says so, keeps what was typed, and is sent after the next sign-in", async () => {
    await visitor.open(`${base}/keys`);
    await page.getByRole("link", { name: `Key ${unique}` }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const editing = page.getByRole("dialog", { name: /^Edit/ });
    const name = editing.getByRole("textbox", { name: "Name" });
    await name.fill("Written before the end");
    await page.context().clearCookies();
    await page.keyboard.press("Enter");
    await editing.getByText("Your session has ended").waitFor();
    expect([await name.inputValue(), await visitor.audit()]).toEqual(["Written before the end", []]);
    const way = editing.getByRole("link", { name: "Sign in in another tab" });
    const next = encodeURIComponent(`${base}/keys/${key.id}`);
    expect([await way.getAttribute("href"), await way.getAttribute("target")]).toEqual([
      `/console/sign-in?next=${next}`,
      "_blank",
    ]);
    await signIn(visitor, fleet, email);
    await name.press("Enter");
    await page.getByText("The key is saved").first().waitFor();
    await page.getByRole("heading", { name: "Written before the end" }).first().waitFor();
    await fleet.operator().call("PATCH", `/keys/${key.id}`, { name: `Key ${unique}` });
    expect(visitor.faults).toEqual([]);
  });

  test("a form that the service does not answer stays with what was typed", async () => {
    await visitor.open(`${base}/keys/${key.id}`);
    await page.getByRole("button", { name: "Edit" }).click();
    const editing = page.getByRole("dialog", { name: /^Edit/ });
    const name = editing.getByRole("textbox", { name: "Name" });
    await name.fill("Another name");
    await page.route(page.url(), (route) => route.abort("connectionrefused"), { times: 1 });
    await editing.getByRole("button", { name: "Save" }).click();
    await editing.getByText("The service does not answer.").waitFor();
    expect(await name.inputValue()).toBe("Another name");
    await editing.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Another name" }).waitFor();
    await fleet.operator().call("PATCH", `/keys/${key.id}`, { name: `Key ${unique}` });
    expect(visitor.faults.splice(0).filter((fault) => !fault.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
  });

  test("the palette goes to a page, a key, a model and a pasted id, and starts acts", async () => {
    const id = await send();
    const palette = page.getByRole("combobox", { name: "Search, or go to a page" });
    const go = async (typed: string, option: string | RegExp): Promise<string> => {
      const before = path();
      await page.keyboard.press("Control+k");
      await palette.fill(typed);
      await page.getByRole("option", { name: option }).first().waitFor();
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname !== before);
      return path();
    };
    await visitor.open(base);
    expect(await go("audi", /^Audit/)).toBe(`${base}/audit`);
    expect(await go(`key ${unique}`, new RegExp(`Key ${unique}`))).toBe(`${base}/keys/${key.id}`);
    expect(await go("sandbox echo", /sandbox\/echo/)).toBe(`${base}/models/sandbox/echo`);
    expect(await go(id, new RegExp(id))).toBe(`${base}/requests/${id}`);
    expect(await go("create a k", "Create a key")).toBe(`${base}/keys/new`);
    const asked = visitor.asked.length;
    expect(await go(key.key, new RegExp(`Key ${unique}`))).toBe(`${base}/keys/${key.id}`);
    expect(visitor.asked.slice(asked).filter((address) => address.includes(key.key))).toEqual([]);
    await page.keyboard.press("Control+k");
    await page.getByRole("option").first().waitFor();
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.press("Escape");
    expect([await palette.isVisible(), visitor.faults]).toEqual([false, []]);
  });

  test("the keys: / to the filter, g and a letter to a page, ? for all of them, which can be switched off", async () => {
    await visitor.open(base);
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.waitForURL(`**${base}/requests`);
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.name")).toBe("model");
    await page.keyboard.type("g?");
    expect(await page.evaluate("document.activeElement.value")).toBe("g?");
    await page.getByRole("heading", { level: 1 }).click();
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    expect(await visitor.audit()).toEqual([]);
    await keys.getByRole("checkbox", { name: "Keys without" }).uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    expect(await keys.count()).toBe(0);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search, or go to a page" }).fill("keyboard");
    await page.getByRole("option", { name: /Keyboard shortcuts/ }).click();
    await keys.getByRole("checkbox", { name: "Keys without" }).check();
    await page.keyboard.press("Escape");
    expect(visitor.faults).toEqual([]);
  });

  test("the theme is chosen by a button, and the next page comes in it", async () => {
    await visitor.open(base);
    const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await ground();
    await page.getByRole("button", { name: "Theme: system. Change to light" }).click();
    await page.getByRole("button", { name: "Theme: light. Change to dark" }).click();
    await page.getByRole("button", { name: "Theme: dark. Change to system" }).waitFor();
    expect([light === (await ground()), path()]).toEqual([false, base]);
    await page.getByRole("button", { name: "Theme: dark. Change to system" }).click();
    await page.getByRole("button", { name: "Theme: system. Change to light" }).waitFor();
    expect(await ground()).toBe(light);
  });

  test("without a script a row's link leads to its page, Search is a page, and nothing promises to be live", async () => {
    const id = await send();
    await using plain = await Visit.to({ url: fleet.url(), javaScript: false });
    await signIn(plain, fleet, email);
    const shown = await plain.open(`${base}/requests`);
    expect(await shown.getByRole("button", { name: "Live", exact: true }).isVisible()).toBe(false);
    await shown.locator(`a[href$="${id}"]`).click();
    expect(new URL(shown.url()).pathname).toBe(`${base}/requests/${id}`);
    await shown.getByRole("link", { name: "Search" }).click();
    await shown.getByLabel("Name, address or id").fill(unique);
    await shown.getByLabel("Name, address or id").press("Enter");
    await shown.getByRole("link", { name: `Key ${unique}` }).waitFor();
    await shown.getByRole("button", { name: "Theme: system. Change to light" }).click();
    expect(await shown.locator("html").getAttribute("data-theme")).toBe("light");
  });
});
