/**
 * The baseline of the bench: a proxy on the same runtime that only forwards bytes. `bun bench/bare-proxy.ts URL [PORT]` forwards
 * requests to URL and prints its port. Several processes can share one PORT.
 */
const [upstream = "", port = "0"] = process.argv.slice(2);

async function relay(request: Request): Promise<Response> {
  const headers = { "content-type": "application/json", authorization: request.headers.get("authorization") ?? "" };
  const answer = await fetch(upstream, { method: "POST", headers, body: await request.arrayBuffer(), signal: request.signal });
  const type = answer.headers.get("content-type") ?? "application/octet-stream";
  return new Response(answer.body, { status: answer.status, headers: { "content-type": type } });
}

const server = Bun.serve({
  port: Number(port),
  hostname: "127.0.0.1",
  reusePort: port !== "0",
  idleTimeout: 255,
  maxRequestBodySize: 64 * 1024 * 1024,
  fetch: relay,
});
console.log(`listening ${server.port}`);
