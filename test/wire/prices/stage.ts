/** A customer with credit at the process that plays every format, the official package, and the rows of the log. */
import OpenAI from "openai";
import type { LogRow } from "../../support/operator.ts";
import type { ProviderStub } from "../../support/providers/provider-stub.ts";
import type { StubAnswer } from "../../support/providers/stub-answers.ts";
import { until } from "../../support/until.ts";
import { formatsStage, type FormatProvider } from "../formats-stage.ts";

export interface PriceStage {
  stub: ProviderStub;
  client: OpenAI;
  /** Waits for the row of an answer in the log. */
  rowOf(response: Response): Promise<LogRow>;
}

/** @param answer of the provider from now on */
export async function openPriceStage(provider: FormatProvider, answer: StubAnswer): Promise<PriceStage> {
  const { fleet, stub: stubOf } = await formatsStage();
  const stub = stubOf(provider);
  stub.answer(answer);
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
