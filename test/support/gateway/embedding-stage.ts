/** A service in one process with a provider stub that embeds, for tests of POST /embeddings. */
import { expectExactLedger } from "./exact-ledger.ts";
import type { Customer, LogRow } from "../operator.ts";
import { embeddingModel, embeddings } from "../providers/embedding-answers.ts";
import { atEnd } from "../processes/at-end.ts";
import { startProviderStub, type ProviderStub } from "../providers/provider-stub.ts";
import { stubKeyEnv, stubModel, stubProvider, writeCatalog } from "../providers/stub-catalog.ts";
import { Fleet } from "../servers/fleet.ts";
import { temporaryFolder } from "../temporary-folder.ts";

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

let opened: Promise<EmbeddingStage> | null = null;

/** All files share the process, which the end of the test process stops. */
export function openEmbeddingStage(): Promise<EmbeddingStage> {
  opened ??= EmbeddingStage.open();
  return opened;
}

export class EmbeddingStage {
  readonly provider: ProviderStub;
  readonly fleet: Fleet;
  /** Has embeddings switched on, and 1 USD. */
  customer: Customer;

  private constructor({ provider, fleet, customer }: Pick<EmbeddingStage, "provider" | "fleet" | "customer">) {
    this.provider = provider;
    this.fleet = fleet;
    this.customer = customer;
  }

  static async open(): Promise<EmbeddingStage> {
    const stack = new AsyncDisposableStack();
    atEnd(() => stack.disposeAsync());
    const provider = stack.use(await startProviderStub(embeddings()));
    const folder = stack.use(await temporaryFolder());
    const long = { id: "stub/long", upstream_model: "long", context_length: 8_191, max_inputs: 2_048 };
    const models = [stubModel(), embeddingModel(), embeddingModel({ ...long, dimensions: { default: 4, allowed: [4, 256] } })];
    const catalogDir = await writeCatalog(folder.path, {
      providers: [stubProvider({ base_url: provider.url })],
      models: { stub: models },
    });
    const fleet = stack.use(await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } }));
    await Promise.all(["stub/embed", "stub/long"].map((model) => fleet.runnable(model)));
    const customer = await fleet.operator().customer({ credit: "1", earlyAccess: ["embeddings"] });
    return new EmbeddingStage({ provider, fleet, customer });
  }

  /** A new customer, and a provider that answers well. */
  async reset(credit = "1"): Promise<void> {
    this.customer = await this.fleet.operator().customer({ credit, earlyAccess: ["embeddings"] });
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
