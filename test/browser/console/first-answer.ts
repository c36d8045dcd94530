/**
 * The way of a newcomer from the link that `npm start` prints to the first answer of a provider's model, in the browser alone. A test goes
 * it, and `npm run screenshots -- first-answer` records it with a picture of each step, its time and the words that have to be read.
 */
import type { Locator, Page } from "playwright-core";

export interface Step {
  name: string;
  /** What a person has to read. */
  reads(page: Page): Locator;
  act(page: Page): Promise<void>;
}

interface Plan {
  provider: { name: string; key: string };
  model: string;
  /** What the model answers. */
  answer: string;
}

export function stepsToFirstAnswer({ provider, model, answer }: Plan): Step[] {
  const dialog = (page: Page): Locator => page.getByRole("dialog", { name: `Add ${provider.name}` });
  const tryIt = (page: Page): Locator => page.getByRole("link", { name: `Try ${model}` });
  const answered = (page: Page): Locator => page.getByRole("region", { name: "Answer 1" });
  return [
    {
      name: "The printed link",
      reads: (page) => page.getByRole("main"),
      act: (page) => page.getByRole("button", { name: "Sign in" }).click(),
    },
    {
      name: "Home: the first step",
      reads: (page) => page.getByRole("listitem").filter({ hasText: "Add a provider’s key" }),
      act: (page) => page.getByRole("link", { name: "Add a provider’s key" }).click(),
    },
    {
      name: "Providers: choose one",
      reads: (page) => page.getByRole("row").filter({ hasText: provider.name }).first(),
      act: (page) => page.getByRole("link", { name: `Add key of ${provider.name}` }).click(),
    },
    {
      name: "Its key and two ticks",
      reads: dialog,
      async act(page) {
        for (const box of await dialog(page).getByRole("checkbox").all()) await box.check();
        await dialog(page).getByLabel(`${provider.name} API key`).fill(provider.key);
        await page.keyboard.press("Enter");
        await tryIt(page).waitFor();
      },
    },
    {
      name: "Its models turn callable",
      reads: (page) => page.getByRole("row").filter({ has: tryIt(page) }),
      act: (page) => tryIt(page).click(),
    },
    {
      name: "Workbench: a question",
      reads: (page) => page.getByText("Try models on the workspace"),
      async act(page) {
        await page.getByLabel("Message 1", { exact: true }).fill("Hello, model");
        await page.getByRole("button", { name: "Run" }).click();
        await answered(page).getByText(answer).waitFor();
        await page.getByRole("link", { name: "See the request" }).waitFor();
      },
    },
    { name: "The answer, and what it cost", reads: answered, act: async () => {} },
  ];
}
