/** Answers before the body has arrived: later bytes still belong to that body, and never form a request. */
import {
  answered,
  ask,
  body,
  chatPath,
  chunked,
  chunkedPost,
  get,
  hidden,
  keyMark,
  post,
  sized,
  sizeOf,
  type Attack,
} from "./attack.ts";

const wrongKey = (text: string): string => text.replace(keyMark, "none");
const hiding = sized(hidden);

export const lateBodies: Attack[] = [
  answered(401, "a wrong key", wrongKey(post(hiding)), hidden),
  answered(401, "a wrong key, in chunks", wrongKey(chunkedPost), chunked(hidden)),
  answered([100, 401], "a wrong key that waits for a 100 Continue", wrongKey(post(hiding, "Expect: 100-continue")), hidden),
  answered(404, "a wrong path", ask("POST /nowhere HTTP/1.1", hiding), hidden),
  answered(405, "a wrong method", ask(`PUT ${chatPath} HTTP/1.1`, hiding), hidden),
  answered(405, "a method that has no body", ask(`GET ${chatPath} HTTP/1.1`, hiding), hidden),
  answered(200, "a GET with a body", get(hiding), hidden),
  answered(200, "a GET with a body in chunks", get("Transfer-Encoding: chunked"), chunked(hidden)),
  answered(200, "a body for /health", ask("GET /health HTTP/1.1", hiding), hidden),
  answered(401, "the control API without its token", ask("POST /api/console/keys HTTP/1.1", hiding), hidden),
  answered(400, "a body with Content-Encoding: gzip", post(hiding, "Content-Encoding: gzip"), hidden),
  answered(400, "a body that came too late", post(sized(body + hidden)) + body, hidden),
  answered(
    400,
    "a body in chunks that came too late",
    `${chunkedPost}${sizeOf(body + hidden)}\r\n${body}`,
    `${hidden}\r\n0\r\n\r\n`,
  ),
  {
    name: "a body that is not JSON, and an honest request after it",
    sends: [post(sized("nope")) + "nope", post(sized(body)) + body],
    answers: [400, 200],
    closes: false,
    charged: 1,
  },
];
