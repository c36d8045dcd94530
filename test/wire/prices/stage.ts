/** One process with a stubbed provider, a customer with credit, and the official package. */
import { join } from "node:path";
import OpenAI from "openai";
import type { ModelEntry, ProviderEntry } from "../../../src/gateway/models/schema.ts";
import type { LogRow } from "../../support/operator.ts";
import { startProviderStub, type ProviderStub } from "../../support/providers/provider-stub.ts";
import type { StubAnswer } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, stubProvider, writeCatalog } from "../../support/providers/stub-catalog.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";

export interface PriceStage {
  stub: ProviderStub;
  client: OpenAI;
  /** Waits for the row of an answer in the log. */
  rowOf(response: Response): Promise<LogRow>;
}

/** @param stack ends the processes */
export async function startPriceStage(
  { models, provider, answer }: { models: ModelEntry[]; provider?: Partial<ProviderEntry>; answer: StubAnswer },
  stack: AsyncDisposableStack,
): Promise<PriceStage> {
  const stub = stack.use(await startProviderStub(answer));
  const folder = stack.use(await temporaryFolder());
  const catalogDir = await writeCatalog(join(folder.path, "catalog"), {
    providers: [stubProvider({ base_url: stub.url, ...provider })],
    models: { stub: models },
  });
  const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-ours" } }));
  for (const { id } of models) await fleet.runnable(id);
  const { workspace, keys } = await fleet.operator().customer({ credit: "10" });
  const client = new OpenAI({ baseURL: `${fleet.url()}/gpt/v1`, apiKey: keys[0]?.key ?? "", maxRetries: 0 });
  const rowOf = async (response: Response): Promise<LogRow> => {
    const generation = response.headers.get("x-generation-id");
    const find = async () =>
      (await fleet.operator().log(`workspace=${workspace}`)).find((row) => row.generation_id === generation);
    await until(async () => (await find()) !== undefined);
    const row = await find();
    if (!row) throw new Error(`There is no row of ${generation}`);
    return row;
  };
  return { stub, client, rowOf };
}
