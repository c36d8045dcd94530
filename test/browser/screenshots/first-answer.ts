/** Goes a newcomer's way to the first answer of a model on a service of its own, and records each step. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CatalogCopy } from "../../connectors/catalog/catalog-copy.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { stubModel, stubProvider } from "../../support/providers/stub-catalog.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Visit } from "../browser.ts";
import { stepsToFirstAnswer } from "../console/first-answer.ts";
import type { Shot } from "./index-page.ts";

/** A person reads as many words a minute, as the slower half of readers do on screens. */
const wordsPerMinute = 200;

/** @param folder of the pictures */
export async function recordFirstAnswer(folder: string): Promise<Shot[]> {
  await using stack = new AsyncDisposableStack();
  const stub = stack.use(await startProviderStub());
  const { path } = stack.use(await temporaryFolder());
  const { folder: catalogDir } = await CatalogCopy.in(path);
  const file = join(catalogDir, "providers.json");
  const provider = stubProvider({ base_url: stub.url, key_env: "NOBODY_HAS_THIS_KEY" });
  await writeFile(file, JSON.stringify([...JSON.parse(await readFile(file, "utf8")), provider]));
  await writeFile(join(catalogDir, "models/stub.json"), JSON.stringify([stubModel()]));
  const startedAt = performance.now();
  const seconds = (): string => ((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5);
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, makesDatabase: true }));
  const printed = /(\/console\/link\/[\w-]{43})/;
  const [, link = ""] = printed.exec((await fleet.gateways[0]?.process.says(printed)) ?? "") ?? [];
  console.log(`${seconds()} s  npm start has printed its link`);
  const visit = stack.use(await Visit.to({ url: fleet.url(), reducedMotion: true }));
  await visit.open(link);
  const shots: Shot[] = [];
  let words = 0;
  const plan = { provider: { name: "Stub", key: "sk-of-the-newcomer-01" }, model: "stub/model", answer: "Hello from the stub" };
  for (const [index, step] of stepsToFirstAnswer(plan).entries()) {
    const text = await step.reads(visit.page).innerText();
    const count = text.split(/\s+/).filter((word) => /\w/.test(word)).length;
    words += count;
    const name = `first-answer-${index + 1}.png`;
    await visit.page.screenshot({ path: join(folder, name) });
    shots.push({ path: new URL(visit.page.url()).pathname, title: `${index + 1}. ${step.name}`, files: [name], faults: [] });
    await step.act(visit.page);
    console.log(`${seconds()} s  ${step.name}: ${count} words`);
  }
  console.log(`${words} words, ${((words / wordsPerMinute) * 60).toFixed(0)} s at ${wordsPerMinute} words a minute`);
  if (visit.faults.length > 0) throw new Error(visit.faults.join("\n"));
  return shots;
}
