/** First lines: versions, methods, and all ways to write a path. */
import { answered, ask, body, chatPath, chunked, dropped, refused, refusedVersion, tooLong, type Attack } from "./attack.ts";

const path = (target: string): string => ask(`GET ${target} HTTP/1.1`);

export const versions: Attack[] = [
  refusedVersion("HTTP/0.9", "GET /gpt/v1/key\r\n\r\n"),
  { name: "HTTP/1.0", sends: [ask("GET /gpt/v1/key HTTP/1.0")], answers: [200], closes: true },
  refused("HTTP/1.0 with chunks", ask(`POST ${chatPath} HTTP/1.0`, "Transfer-Encoding: chunked") + chunked(body)),
  refusedVersion("HTTP/1.2", ask("GET /gpt/v1/key HTTP/1.2")),
  refusedVersion("HTTP/2.0", ask("GET /gpt/v1/key HTTP/2.0")),
  refusedVersion("http/1.1", ask("GET /gpt/v1/key http/1.1")),
  refusedVersion("a word after the version", ask("GET /gpt/v1/key HTTP/1.1 x")),
  refused("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  refused("no host", "GET /gpt/v1/key HTTP/1.1\r\n\r\n"),
];

export const methods: Attack[] = [
  dropped("an unknown method", ask("FOO /gpt/v1/key HTTP/1.1")),
  dropped("a method in lower case", ask("get /gpt/v1/key HTTP/1.1")),
  dropped("a method of 5,000 letters", ask(`${"A".repeat(5_000)} /gpt/v1/key HTTP/1.1`)),
  refused("a method with an invalid character", ask("G@T /gpt/v1/key HTTP/1.1")),
  refused("a space before the method", ask(" GET /gpt/v1/key HTTP/1.1")),
  answered(405, "TRACE: the answer contains nothing of the request", ask("TRACE /gpt/v1/key HTTP/1.1")),
  { name: "CONNECT", sends: [ask("CONNECT weir:443 HTTP/1.1", "Connection: close")], answers: [404], closes: true },
  refused("OPTIONS *", ask("OPTIONS * HTTP/1.1")),
];

export const targets: Attack[] = [
  refused("two spaces", ask("GET  /gpt/v1/key HTTP/1.1")),
  refusedVersion("tabs for spaces", ask("GET\t/gpt/v1/key\tHTTP/1.1")),
  refusedVersion("a space in the path", path("/gpt/v1/key x")),
  refusedVersion("a NUL in the path", path("/gpt/v1/key\0")),
  refused("only an authority", path("weir:443")),
  tooLong("a path of 100,000 bytes", path(`/${"a".repeat(100_000)}`)),
  answered(200, "an absolute URL", path("http://weir/gpt/v1/key")),
  answered(200, "an absolute URL of another host: neither is used for anything", path("http://evil.example/gpt/v1/key")),
  answered(404, "bytes that are no ASCII", path("/gpt/v1/k\xffey")),
  answered(404, "an escaped slash", path("/gpt%2fv1%2fkey")),
  answered(404, "an escaped slash in dots", path("/gpt/v1/..%2f..%2fmetrics")),
  answered(404, "an escaped letter", path("/gpt/v1/%6bey")),
  answered(404, "an escaped NUL", path("/gpt/v1/key%00")),
  answered(404, "an overlong escape", path("/gpt/v1/%c0%ae%c0%ae/key")),
  answered(404, "half an escape", path("/gpt/v1/%")),
  answered(404, "a line end in a model's id, escaped", path("/gpt/v1/models/a%0d%0aX-Evil:%201")),
  answered(404, "two slashes", path("//gpt/v1/key")),
  answered(404, "a path parameter", path("/gpt/v1/key;a=b")),
  answered(404, "capital letters", path("/GPT/v1/key")),
  answered(401, "dots that lead to another API: it requires its own token", path("/gpt/v1/../../api/console/workspaces")),
  answered(401, "escaped dots that lead there", path("/gpt/v1/models/%2e%2e/%2e%2e/%2e%2e/api/console/workspaces")),
  answered(401, "backslashes that lead there", path("\\api\\console\\workspaces".replace("\\", "/"))),
];
