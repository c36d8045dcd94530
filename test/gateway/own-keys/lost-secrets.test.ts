/** A service whose SECRETS_KEY was lost: own keys stay closed, and the service's key does not take their place. */
import { expect, test } from "bun:test";
import { chat } from "../../support/gateway/requests.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { stubKeyEnv, writeStubCatalog } from "../../support/providers/stub-catalog.ts";
import { secretsKeyNamed } from "../../support/secrets-key.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

test("an own key that cannot be opened is 503 model_unavailable with an alarm, and no provider is called", async () => {
  await using stub = await startProviderStub();
  await using catalog = await temporaryFolder();
  await using data = await temporaryFolder();
  const catalogDir = await writeStubCatalog(catalog.path, { url: stub.url });
  const plan = (secret: string) => ({
    services: null,
    inTest: true as const,
    catalogDir,
    dataDir: data.path,
    environment: { [stubKeyEnv]: "sk-of-the-service", SECRETS_KEY: secretsKeyNamed(secret) },
  });
  let key = "";
  let id = "";
  {
    await using fleet = await Fleet.start(plan("first"));
    await fleet.runnable("stub/model");
    const { workspace, keys } = await fleet.operator().customer({ credit: "1" });
    key = keys[0]?.key ?? "";
    await fleet.operator().call("PATCH", `/workspaces/${workspace}`, { early_access: ["own_keys"] });
    const form = { workspace, provider: "stub", key: "sk-own-of-a-workspace" };
    id = (await fleet.operator().call<{ id: string }>("POST", "/provider-keys", form)).id;
    expect((await chat({ url: fleet.url(), key })).status).toBe(200);
  }
  await using fleet = await Fleet.start(plan("second"));
  await fleet.runnable("stub/model");
  const calls = stub.calls.length;
  for (const stream of [false, true]) {
    const response = await chat({ url: fleet.url(), key, body: { stream } });
    expect([response.status, response.headers.get("x-should-retry")]).toEqual([503, "false"]);
    const { error } = (await response.json()) as { error: Record<string, unknown> };
    expect(error).toMatchObject({
      code: "model_unavailable",
      message: "The workspace's own key for stub cannot be read at present",
    });
  }
  expect(stub.calls.length).toBe(calls);
  expect(fleet.gateways[0]?.output).toContain("own_key.unreadable");
  const tested = await fleet.operator().send(`/api/console/provider-keys/${id}/test`, { method: "POST", body: {} });
  expect(tested.status).toBe(503);
  expect(await fleet.operator().verify()).toMatchObject({ ok: true });
}, 60_000);
