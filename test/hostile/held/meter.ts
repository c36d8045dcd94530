/**
 * Loaded before the service (`--preload`): tells on a port of its own for how long the event loop was held since it was last asked,
 * as CPU time of the thread between two rounds of the loop.
 */
let longestMs = 0;
let before = process.threadCpuUsage();

const turn = setInterval(() => {
  const { user, system } = process.threadCpuUsage(before);
  longestMs = Math.max(longestMs, (user + system) / 1_000);
  before = process.threadCpuUsage();
}, 1);
turn.unref();

const meter = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(process.env["METER_PORT"]),
  fetch() {
    const told = longestMs;
    longestMs = 0;
    return new Response(String(told));
  },
});
meter.unref();
