/** A service with something on every page of the Console: members of each role, requests of three weeks, findings, tickets, a connection. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { earlyAccessFeatures } from "../../../src/accounts/workspaces/workspaces.ts";
import { addressOf, sampleName, writeHistory, type History } from "./history.ts";
import { sampleStripe } from "./top-ups.ts";
import { addSecurity, type SampleSecurity } from "./security.ts";
import { chat } from "../gateway/requests.ts";
import type { LogRow } from "../operator.ts";
import { wholeCatalog } from "../providers/catalogs.ts";
import { secretsKeyNamed } from "../secrets-key.ts";
import { Fleet } from "../servers/fleet.ts";
import { until } from "../until.ts";

/** A made-up account: pages show it in the trust policy of a customer's role. No test calls AWS with it. */
const sampleAws = {
  AWS_ACCOUNT_ID: "210987654321",
  AWS_ACCESS_KEY_ID: "AKIAEXAMPLEEXAMPLE00",
  AWS_SECRET_ACCESS_KEY: "a secret of the sample",
};

export interface ConsoleSample extends History {
  /** Of the workspace. */
  name: string;
  security: SampleSecurity;
  /** Ids in the log: of an answer whose prompt is stored, and of an error. */
  generations: { stored: string; failed: string };
  connection: string;
  /** Of a connection to AWS by a role, whose page shows the trust policy. */
  roleConnection: string;
  /** Of alerts: a rule and a webhook. */
  rule: string;
  webhook: string;
  /** The address of the member with this role. */
  addressOf(role: "member" | "auditor" | "admin" | "super_admin"): string;
}

export class SampleService implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly sample: ConsoleSample;
  readonly #stack: AsyncDisposableStack;

  private constructor(fleet: Fleet, sample: ConsoleSample, stack: AsyncDisposableStack) {
    this.fleet = fleet;
    this.sample = sample;
    this.#stack = stack;
  }

  /** @param environment of the service, besides a fleet's */
  static async start(environment: Record<string, string> = {}): Promise<SampleService> {
    await using stack = new AsyncDisposableStack();
    const dataDir = await mkdtemp(join(tmpdir(), "weir-sample-"));
    stack.defer(() => rm(dataDir, { recursive: true, force: true }));
    const history = await writeHistory(dataDir);
    const settings = { ...sampleStripe, ...sampleAws, SECRETS_KEY: secretsKeyNamed(sampleName), ...environment };
    const fleet = stack.use(
      await Fleet.start({ services: null, inTest: true, catalogDir: wholeCatalog, dataDir, environment: settings }),
    );
    return new SampleService(fleet, await fill(fleet, history), stack.move());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}

async function fill(fleet: Fleet, history: History): Promise<ConsoleSample> {
  const operator = fleet.operator();
  const workspace = sampleName;
  const settings = {
    early_access: earlyAccessFeatures,
    prompt_storage: true,
    spend_limit_usd: "250",
    daily_spend_limit_usd: "25",
  };
  await operator.call("PATCH", `/workspaces/${workspace}`, settings);
  await operator.call("PATCH", `/members/${addressOf("member")}`, { workspace, monthly_spend_limit_usd: "60" });
  await operator.call("POST", "/workspaces", { name: "second workspace", credit_usd: "5" });
  const credentials = { okta_domain: "example.okta.com", api_token: "a token of the sample" };
  const { id: connection } = await operator.call<{ id: string }>("POST", "/connections", {
    workspace,
    connector: "okta",
    credentials,
  });
  const { id: roleConnection } = await operator.call<{ id: string }>("POST", "/connections", {
    workspace,
    connector: "amazon-web-services",
    credentials: { role_arn: "arn:aws:iam::123456789012:role/compliance-audit" },
  });
  const security = await addSecurity({ name: workspace, member: addressOf("member") }, { operator, url: fleet.url() });
  const alerts = await addAlerts(workspace, operator);
  const [findings, failed] = [
    { workspace, list: "findings", name: "Critical, most likely exploited first", query: "severity=critical&view=exploit" },
    { workspace, list: "requests", name: "Failed", query: "status=error" },
  ];
  for (const role of ["admin", "super_admin"] as const)
    for (const view of [findings, failed]) await operator.call("POST", "/views", view, { as: addressOf(role) });
  return {
    ...history,
    name: workspace,
    security,
    connection,
    roleConnection,
    ...alerts,
    generations: await callModels(fleet),
    addressOf,
  };
}

/** Rules, and webhooks with a test that did not arrive. */
async function addAlerts(
  workspace: string,
  operator: ReturnType<Fleet["operator"]>,
): Promise<Pick<ConsoleSample, "rule" | "webhook">> {
  const { id: rule } = await operator.call<{ id: string }>("POST", "/alert-rules", { workspace, kind: "workspace_month" });
  await operator.call("POST", "/alert-rules", { workspace, kind: "balance", balance_usd: "9000000" });
  const url = "https://hooks.example/weir";
  const { id } = await operator.call<{ id: string }>("POST", "/alert-webhooks", { workspace, url });
  await operator.call("POST", `/alert-webhooks/${id}/test`, {});
  const slack = { workspace, format: "slack", name: "#alerts", url: "https://hooks.slack.com/services/T0/B0/none" };
  await operator.call("POST", "/alert-webhooks", slack);
  return { rule, webhook: id };
}

/** Real requests, whose prompts are stored. */
async function callModels(fleet: Fleet): Promise<ConsoleSample["generations"]> {
  const operator = fleet.operator();
  const owner = addressOf("member");
  const form = { workspace: sampleName, owner, name: "Support assistant" };
  const { id, key } = await operator.call<{ id: string; key: string }>("POST", "/keys", form);
  const send = (content: string) =>
    chat({ url: fleet.url(), key, body: { model: "sandbox/echo", messages: [{ role: "user", content }] } });
  for (const content of ["Which day is best for a release?", "sandbox: status=500", "Summarize the notes of this week"])
    await (await send(content)).text();
  let rows: LogRow[] = [];
  await until(async () => {
    rows = await operator.log(`workspace=${sampleName}&limit=3`);
    return rows.every(({ key_id: caller }) => caller === id);
  });
  const idOf = (wanted: (row: LogRow) => boolean): string => rows.find(wanted)?.generation_id ?? "";
  return { stored: idOf(({ status }) => status === 200), failed: idOf(({ status }) => status !== 200) };
}
