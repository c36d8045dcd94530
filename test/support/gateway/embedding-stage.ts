/** A service in one process with a provider stub that embeds, for tests of POST /embeddings. */
import { expectExactLedger } from "./exact-ledger.ts";
import type { Customer, LogRow } from "../operator.ts";
import { embeddings } from "../providers/embedding-answers.ts";
import type { ProviderStub } from "../providers/provider-stub.ts";
import type { Fleet } from "../servers/fleet.ts";
import { startStubFleet } from "../servers/stub-fleet.ts";

interface Answer {
  status: number;
  data: { object: string; index: number; embedding: unknown }[];
  model: string;
  object: string;
  usage: { prompt_tokens: number; total_tokens: number };
  error?: { code: string; param: string | null; message: string };
}

interface Sent {
  key?: string;
  signal?: AbortSignal;
}

/** At the process that all files share. The provider embeds. */
export async function openEmbeddingStage(): Promise<EmbeddingStage> {
  const { fleet, stub } = await startStubFleet();
  const stage = new EmbeddingStage(stub, fleet, await fleet.operator().customer(startingWith("1")));
  stub.answer(embeddings());
  return stage;
}

const startingWith = (credit: string) => ({ credit, earlyAccess: ["embeddings"] });

export class EmbeddingStage {
  readonly provider: ProviderStub;
  readonly fleet: Fleet;
  /** Has embeddings switched on, and 1 USD. */
  customer: Customer;

  constructor(provider: ProviderStub, fleet: Fleet, customer: Customer) {
    this.provider = provider;
    this.fleet = fleet;
    this.customer = customer;
  }

  /** A new customer, and a provider that answers well. */
  async reset(credit = "1"): Promise<void> {
    this.customer = await this.fleet.operator().customer(startingWith(credit));
    this.provider.answer(embeddings());
  }

  post(body: unknown, { key = this.customer.keys[0]?.key ?? "", signal }: Sent = {}): Promise<Response> {
    return fetch(`${this.fleet.url()}/gpt/v1/embeddings`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
      ...(signal && { signal }),
    });
  }

  async embed(body: Record<string, unknown>): Promise<Answer> {
    const response = await this.post({ model: "stub/embed", ...body });
    return { ...((await response.json()) as Omit<Answer, "status">), status: response.status };
  }

  /** The log's row of the customer's only request, when it is settled. */
  async settled(): Promise<LogRow> {
    const [row] = await expectExactLedger(this.fleet.operator(), this.customer, { credit: "1", generations: 1 });
    if (row === undefined) throw new Error("The log has no row");
    return row;
  }
}
