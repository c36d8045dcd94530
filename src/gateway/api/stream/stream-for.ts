import type { RouteContext } from "../../../http/router.ts";
import { bunStream } from "./bun-stream.ts";
import type { CreateStream } from "./client-stream.ts";
import { webStream } from "./web-stream.ts";

/** The form of a streamed answer for the server that sends it. Bun's idle timer would end a quiet stream; other runtimes have none. */
export function streamFor(request: Request, server: RouteContext["server"]): CreateStream {
  server?.timeout(request, 0);
  return server ? bunStream : webStream;
}
