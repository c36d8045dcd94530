/** `bun calling-process.ts URL`: calls a provider's address over the network and prints the answer, or why there was none. */
import { systemClock } from "../../../src/kernel/clock.ts";
import { UpstreamCall, nextBytes } from "../../../src/gateway/providers/transport/upstream-call.ts";
import { networkOf } from "../../../src/gateway/providers/transport/network.ts";

const clocks = { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000, streamMs: 5_000 };
const exchange = new UpstreamCall({ clock: systemClock, clocks, startedAt: systemClock.monotonic() });
try {
  await exchange.post(networkOf(systemClock), new URL(process.argv[2] ?? ""), { headers: {}, body: "a secret" });
  console.log(Buffer.from((await nextBytes(exchange)) ?? []).toString());
} catch (error) {
  console.log(String(error));
}
process.exit();
