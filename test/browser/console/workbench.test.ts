/**
 * The Workbench as a person uses it: an answer arrives, stops, fails or stands beside another; what was typed and run is found again; a
 * model's Markdown is drawn safely, whole or while it arrives; the form's mistakes are named; a stored request begins again.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Locator, Page } from "playwright-core";
import type { Fleet } from "../../support/servers/fleet.ts";
import { until } from "../../support/until.ts";
import { chromiumPath, service, Visit } from "../browser.ts";
import { enter } from "./keyboard.ts";
import { signIn } from "./sign-in.ts";

describe.skipIf(chromiumPath === null)("the Workbench", () => {
  let fleet: Fleet;
  let workspace: string;
  let email: string;
  let visitor: Visit;
  let page: Page;

  beforeAll(async () => {
    fleet = await service();
    const name = `bench ${crypto.randomUUID()}`;
    email = `${crypto.randomUUID()}@example.test`;
    const operator = fleet.operator();
    workspace = (await operator.call<{ id: string }>("POST", "/workspaces", { name, credit_usd: "1" })).id;
    await operator.call("PATCH", `/workspaces/${workspace}`, { prompt_storage: true });
    await operator.call("POST", "/members", { workspace, email, role: "admin" });
    visitor = await Visit.to({ url: fleet.url(), reducedMotion: true });
    await signIn(visitor, fleet, email);
    page = await visitor.open(`/console/w/${workspace}/workbench?model=sandbox/echo`);
  }, 60_000);
  afterAll(() => visitor[Symbol.asyncDispose]());

  const pane = (number: 1 | 2): Locator => page.locator("[data-pane]").nth(number - 1);
  const text = (number: 1 | 2): Promise<string> => pane(number).locator("[data-text]").innerText();
  const message = (number = 1): Locator => page.getByRole("textbox", { name: `Message ${number}`, exact: true });
  const button = (name: string): Locator => page.getByRole("button", { name, exact: true });
  const ended = (number: 1 | 2, state: string): Promise<void> =>
    pane(number).locator("[data-state]").getByText(state, { exact: true }).waitFor();

  test("an answer arrives by keyboard alone, is read out by sentences, and shows its cost with a link to the request", async () => {
    await page.getByRole("textbox", { name: "System" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.type("One sentence. And another one.");
    await page.keyboard.press("Control+Enter");
    await ended(1, "Done");
    expect(await text(1)).toBe("One sentence. And another one.");
    expect(await pane(1).getByRole("log").locator("p").allInnerTexts()).toEqual(["One sentence.", "And another one."]);
    expect(await pane(1).locator(".facts").innerText()).toMatch(
      /Cost\s+\$0\.0\d+\s+Tokens\s+\d+ in, \d+ out\s+First token\s+\d+ ms\s+Total time/,
    );
    const link = await pane(1).getByRole("link", { name: "See the request" }).getAttribute("href");
    await until(async () => (await fleet.operator().log(`workspace=${workspace}`)).length === 1);
    const [row] = await fleet.operator().log(`workspace=${workspace}`);
    expect([link, row?.key_id]).toEqual([`/console/w/${workspace}/requests/${row?.generation_id}`, null]);
  });

  test("one button runs and stops, in sight on a low window; a stopped answer keeps its text, and its cost follows from the log", async () => {
    await page.setViewportSize({ width: 1_280, height: 720 });
    await message().fill("sandbox: tokens=400 gap_ms=50");
    await button("Run").click();
    await pane(1).locator("[data-text]").filter({ hasText: /.{20}/ }).waitFor();
    expect(
      await page.evaluate("[document.activeElement.textContent, document.documentElement.scrollHeight <= innerHeight]"),
    ).toEqual(["Stop", true]);
    await page.keyboard.press("Escape");
    await ended(1, "Stopped by you");
    expect((await text(1)).length).toBeGreaterThanOrEqual(20);
    await pane(1).getByText("Cost").waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Run");
  });

  test("an error is shown in the answer's place with its code, before a stream and within it", async () => {
    await message().fill("sandbox: status=500");
    await button("Run").click();
    await ended(1, "Failed");
    const answer = page.getByRole("region", { name: "Answer 1" });
    expect(await answer.innerText()).toEndWith("(upstream_error)");
    await message().fill("sandbox: tokens=9 break_after=3");
    await button("Run").click();
    await pane(1).locator("[data-text]").filter({ hasText: /./ }).waitFor();
    await ended(1, "Failed");
    expect(await answer.getByRole("alert").innerText()).toContain("(upstream_error)");
    // The answer with status 502 is an error in the browser's console too.
    expect(visitor.faults.splice(0).filter((fault) => !fault.includes("502"))).toEqual([]);
  });

  test("a model is found by words; two models answer side by side and are compared, and an answer goes on in the conversation", async () => {
    await page.getByRole("checkbox", { name: "Compare with a second model" }).check();
    const picker = page.getByRole("combobox", { name: "Second model" });
    await picker.fill("ECHO sand");
    expect(await pane(2).getByRole("listbox").getByRole("option").allInnerTexts()).toEqual([
      expect.stringMatching(/^sandbox\/echo\s+\$1\.00 in, \$2\.00 out .*128K context$/),
    ]);
    await picker.press("Enter");
    expect([await picker.inputValue(), await picker.getAttribute("aria-expanded")]).toEqual(["sandbox/echo", "false"]);
    await message().fill("Side by side");
    await button("Run").click();
    await Promise.all([ended(1, "Done"), ended(2, "Done")]);
    expect([await text(1), await text(2)]).toEqual(["Side by side", "Side by side"]);
    expect(await page.locator("[data-comparison]").innerText()).toMatch(/^Compared with answer 1, answer 2 cost as much,? /);
    await pane(2).getByRole("button", { name: "Continue from here" }).click();
    expect(await message(2).inputValue()).toBe("Side by side");
    expect(await page.getByRole("combobox", { name: "Author of message 2" }).inputValue()).toBe("assistant");
    await page.keyboard.type("It's the third");
  });

  test("the request as code follows the form, the model's tab, the API, the language and the stream", async () => {
    await button("Code").click();
    const dialog = page.getByRole("dialog");
    const program = dialog.getByRole("region", { name: "Program" });
    expect(await program.innerText()).toContain(`It'\\''s the third"}]}'`);
    const choose = (name: string) => dialog.getByRole("radio", { name, exact: true }).check({ force: true });
    await choose("Second model");
    await choose("Python");
    expect(await program.innerText()).toContain('    model="sandbox/echo",\n    messages=[');
    await choose("Messages");
    expect(await program.innerText()).toContain("anthropic import Anthropic");
    await choose("Streamed");
    await choose("Responses");
    expect(await program.innerText()).toMatch(/^for event in client\.responses\.create\([^]*input=\[[^]*stream=True/m);
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.press("Escape");
  });

  test("a mistake in a field is named there, in an open fold, and what a model may refuse is said before", async () => {
    await page.getByText("Tools and form of the answer").click();
    const tools = page.getByRole("textbox", { name: "Tools" });
    await tools.fill("[{]");
    await page.getByText("Tools and form of the answer").click();
    await button("Run").click();
    expect(await page.locator("#bench-problem").innerText()).toStartWith("Tools is not JSON: ");
    expect(await page.evaluate("document.activeElement.id")).toBe("bench-tools");
    await tools.fill(
      '[{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]',
    );
    await page.getByRole("combobox", { name: "Tool choice" }).selectOption("Only weather");
    await page.getByText("Parameters", { exact: true }).click();
    await page.getByRole("spinbutton", { name: "Top log probabilities" }).fill("2");
    expect(await page.locator('[data-note="top_logprobs"]').innerText()).toContain("sandbox/echo may refuse this.");
    await page.getByRole("spinbutton", { name: "Top log probabilities" }).fill("");
    await page.getByRole("checkbox", { name: "Compare with a second model" }).uncheck();
    await button("Run").click();
    await ended(1, "Done");
    expect(await pane(1).locator("[data-calls]").innerText()).toMatch(/Call of weather[^]*"city": ""/);
    await pane(1).getByRole("button", { name: "Continue from here" }).click();
    expect(JSON.parse(await message(5).inputValue())).toMatchObject({ role: "tool", tool_call_id: expect.any(String) });
  });

  test("what was typed stays with the tab, a run is found in the history, and a preset is used again", async () => {
    await message(5).fill("never run");
    await page.getByRole("link", { name: "Requests", exact: true }).click();
    await page.waitForURL("**/requests");
    await page.goBack();
    expect(await message(5).inputValue()).toBe("never run");
    // The address names the first model, so the second is not chosen again.
    const asked: string[] = [];
    page.on("dialog", (question) => {
      asked.push(question.message());
      void question.accept();
    });
    await button("New").click();
    expect([asked.length, await message().inputValue()]).toEqual([1, ""]);
    await button("History").click();
    const history = page.getByRole("dialog");
    expect([await history.getByRole("listitem").count(), await visitor.audit()]).toEqual([6, []]);
    await history.getByRole("button", { name: /^Side by side/ }).click();
    expect([await message().inputValue(), await text(1), await text(2)]).toEqual([
      "Side by side",
      "Side by side",
      "Side by side",
    ]);
    await button("Presets").click();
    const presets = page.getByRole("dialog");
    await presets.getByRole("textbox", { name: "Save what is typed as" }).fill("مرحبا two");
    await page.keyboard.press("Enter");
    await presets.getByRole("listitem").waitFor();
    expect(await visitor.audit()).toEqual([]);
    await page.keyboard.press("Escape");
    await button("New").click();
    await button("Presets").click();
    await presets.getByRole("button", { name: /^مرحبا two/ }).click();
    expect([await message().inputValue(), asked.length]).toEqual(["Side by side", 1]);
    await button("History").click();
    await history.getByRole("button", { name: "Clear the history" }).click();
    await history.getByText("No runs yet.").waitFor();
    await page.keyboard.press("Escape");
    page.removeAllListeners("dialog");
  });

  test("Markdown is drawn without its HTML, and the same whole as in pieces; of a long answer the rest is plain", async () => {
    const hostile =
      "# Title\n\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) [b](https://b.example)\n\n![c](https://c.example/c.png)\n\n- one\n- `two`\n\n```js\nlet a;\n```\n\n|a|b|\n|-|-|\n|1|2|\n\nEnd";
    const drawn = (pieces: string[]): Promise<Drawn> =>
      page.evaluate(`(() => {
        const target = document.createElement("div");
        const writer = new workbench.MarkdownWriter(target);
        for (const piece of ${JSON.stringify(pieces)}) { writer.add(piece); writer.draw(false); }
        writer.end();
        const all = [...target.querySelectorAll("*")];
        return {
          html: target.innerHTML.replaceAll(/answer-\\d+-code/g, "answer-code"),
          names: [...new Set(all.map(({ localName }) => localName))],
          links: all.flatMap(({ href, rel }) => (href ? [href + " " + rel] : [])),
          elements: all.length,
          characters: target.textContent.length,
        };
      })()`);
    const whole = await drawn([hostile]);
    expect(whole.links).toEqual(
      ["https://b.example/", "https://c.example/c.png"].map((href) => `${href} noopener noreferrer nofollow`),
    );
    for (const name of ["img", "script"]) expect(whole.names).not.toContain(name);
    expect((await drawn([...hostile])).html).toBe(whole.html);
    for (const piece of ["word ", "- item\n", "| a | b |\n", "> said\n", "```\n", "**a** `b`\n\n"]) {
      const long = await drawn(Array.from({ length: 100 }, () => piece.repeat(Math.ceil(10_000 / piece.length))));
      expect([piece, long.elements < 100_000, long.characters > 300_000]).toEqual([piece, true, true]);
    }
  });

  test("a stored request begins again from its page, which is recorded, and a second time only by another click", async () => {
    const [row] = await fleet.operator().log(`workspace=${workspace}`);
    const views = async () =>
      (await fleet.operator().call<{ data: unknown[] }>("GET", `/audit?workspace=${workspace}&event=prompt.shown`)).data.length;
    await page.goto(`${fleet.url()}/console/w/${workspace}/requests/${row?.generation_id}`);
    await enter(page.getByRole("button", { name: "Same request again" }));
    await page.getByText("This is the prompt of a request").first().waitFor();
    expect([await message().inputValue(), await views()]).toEqual(["Side by side", 1]);
    expect(await page.locator("main .notice").first().innerText()).toContain("with its parameters and tools");
    await page.reload();
    expect([await message().inputValue(), await views()]).toEqual(["Side by side", 1]);
  });

  test("a session that has ended is said in the answer's place, and what was typed is there after a new sign-in", async () => {
    await message().fill("typed before");
    await page.context().clearCookies();
    await button("Run").click();
    await ended(1, "Failed");
    expect(await pane(1).getByRole("alert").innerText()).toStartWith("Your session has ended.");
    expect(visitor.faults.splice(0).filter((fault) => !fault.includes("401"))).toEqual([]);
    await pane(1).getByRole("link", { name: "Sign in again" }).click();
    await page.waitForURL("**/console/sign-in?next=**");
    await signIn(visitor, fleet, email);
    await page.goto(`${fleet.url()}/console/w/${workspace}/workbench`);
    expect(await message().inputValue()).toBe("typed before");
  });

  test("the audit finds nothing, and nothing is cut off on a phone, where the button stays in sight", async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    await page.emulateMedia({ colorScheme: "dark" });
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    await page.getByRole("combobox", { name: "Model", exact: true }).fill("gpt");
    expect([await visitor.audit(), await visitor.overflow()]).toEqual([[], 0]);
    await page.keyboard.press("Escape");
    const isInSight =
      "(() => { const { top, bottom } = document.querySelector('[data-run]').getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; })()";
    for (const place of ["0", "document.body.scrollHeight"])
      expect(await page.evaluate(`scrollTo(0, ${place}), ${isInSight}`)).toBe(true);
    expect(visitor.faults).toEqual([]);
  });
});

interface Drawn {
  html: string;
  names: string[];
  links: string[];
  elements: number;
  characters: number;
}
