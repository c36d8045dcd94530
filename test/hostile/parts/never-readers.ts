/** Clients that open a stream and never read it, besides an ordinary client. */
import { runLoadProcess } from "../../../bench/measure/load-process.ts";
import { usageOf } from "../../../bench/processes/usage.ts";
import { streamStallMsMax } from "../../../src/gateway/limits.ts";
import { Fleet } from "../../support/servers/fleet.ts";
import { startProviderStub } from "../../support/providers/provider-stub.ts";
import { RawClient } from "../../support/servers/raw-client.ts";
import { chunk, type StubAnswer } from "../../support/providers/stub-answers.ts";
import { stubKeyEnv, writeStubCatalog } from "../../support/providers/stub-catalog.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { until } from "../../support/until.ts";
import { tallied } from "./bodies.ts";
import type { PartOptions } from "./part.ts";

const goodPerSecond = 50;
const goodSeconds = 45;
const givenUpMsMax = streamStallMsMax + 30_000;
const mebibyte = 1024 * 1024;
/** The heap grows until all buffers on the way are full. */
const mebibytesPerReaderMax = 5;

/** Writes as fast as the socket accepts, as long as it is open. */
function endless(written: { bytes: number }): StubAnswer {
  const event = `data: ${JSON.stringify(chunk({ content: "x".repeat(16_384) }))}\n\n`;
  return (response) => {
    const fill = (): void => {
      for (let takes = true; takes && !response.destroyed; written.bytes += event.length) takes = response.write(event);
    };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.on("drain", fill);
    fill();
  };
}

async function untilStalled(written: { bytes: number }): Promise<void> {
  for (let before = -1; before !== written.bytes;) {
    before = written.bytes;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

export async function neverReadersPart({ readers, say }: PartOptions): Promise<string[]> {
  await using stub = await startProviderStub();
  await using folder = await temporaryFolder();
  const catalogDir = await writeStubCatalog(folder.path, { url: stub.url });
  await using fleet = await Fleet.start({ services: null, catalogDir, environment: { [stubKeyEnv]: "sk-stub" } });
  await fleet.runnable("stub/model");
  const calls = stub.calls.length;
  const written = { bytes: 0 };
  stub.answer(endless(written));
  const [lazy, busy] = await Promise.all(["100000", "100"].map((credit) => fleet.operator().customer({ credit })));
  const memory = (): number => usageOf(fleet.gateways[0]?.process.pid ?? 0).residentBytes / mebibyte;
  const idle = memory();
  const clients = Array.from({ length: readers }, () => openAndNeverRead(fleet.gateways[0]?.port ?? 0, lazy?.keys[0]?.key ?? ""));
  await until(() => stub.calls.length === calls + readers, 60_000);
  await untilStalled(written);
  const full = memory();
  const rate = ["--rate", String(goodPerSecond), "--seconds", String(goodSeconds), "--timeout", "30"];
  const { result } = await runLoadProcess(["--url", fleet.url(), "--key", busy?.keys[0]?.key ?? "", ...rate]);
  await until(() => stub.calls.every(({ state }) => state !== "open"), givenUpMsMax);
  for (const client of clients) client[Symbol.dispose]();
  const { ok, broken } = await fleet.operator().verify();
  const { latencyMs, failedInAll, codes } = result;
  const perReader = (full - idle) / readers;
  say(
    `${readers} clients that never read, each with ${(written.bytes / readers / mebibyte).toFixed(1)} MiB in transit; all were disconnected`,
  );
  say(
    `memory: ${idle.toFixed(0)} MiB before, ${full.toFixed(0)} with them, ${perReader.toFixed(1)} for each; ${memory().toFixed(0)} afterwards`,
  );
  say(`${goodPerSecond} good requests/s meanwhile: p50 ${latencyMs?.p50.toFixed(1)} ms, p99 ${latencyMs?.p99.toFixed(1)} ms`);
  return [
    ...(failedInAll > 0 ? [`${failedInAll} good requests failed: ${tallied(codes)}`] : []),
    ...(perReader > mebibytesPerReaderMax ? [`a client that never reads takes more than ${mebibytesPerReaderMax} MiB`] : []),
    ...(ok ? [] : [`the ledger is broken: ${JSON.stringify(broken)}`]),
  ];
}

function openAndNeverRead(port: number, key: string): RawClient {
  const body = JSON.stringify({ model: "stub/model", stream: true, messages: [{ role: "user", content: "Go on" }] });
  const head = [
    "POST /gpt/v1/chat/completions HTTP/1.1",
    "Host: weir",
    `Authorization: Bearer ${key}`,
    `Content-Length: ${body.length}`,
  ];
  return new RawClient(port).stopReading().send(...head, "", body);
}
