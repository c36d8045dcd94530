/**
 * Loaded before the service (`--preload`). It reports on its own port how long the event loop was blocked since the last request:
 * the thread's longest CPU time between two turns of the loop.
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
    const reported = longestMs;
    longestMs = 0;
    return new Response(String(reported));
  },
});
meter.unref();
