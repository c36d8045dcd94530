/** One thing that a client may write to a socket, and what is promised about it. */

export interface Attack {
  name: string;
  /** Written one after the other: each one after the first when the answer to what came before has arrived. */
  sends: string[];
  /** The statuses of exactly these answers; then the connection is closed, or takes the next request as if nothing had been. */
  answers: number[];
  closes: boolean;
  /** Requests that are accepted, each for the answer to "Hello" by `sandbox/echo`. */
  charged?: number;
  /** Requests that are accepted and found to have been left before a provider was called: they cost nothing. */
  left?: number;
}

/** Stands for a key in the texts below, and is as long: they are counted before it is put in. */
export const keyMark = "platform-api-".padEnd("platform-api-".length + 64, "?");

export const body = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] });
export const chatPath = "/gpt/v1/chat/completions";

const authorization = `Authorization: Bearer ${keyMark}`;

/** A head with its empty line. */
function head(first: string, ...headers: string[]): string {
  return [first, "Host: weir", authorization, ...headers, "", ""].join("\r\n");
}

/** The head of a chat completion. */
export const post = (...headers: string[]): string => head(`POST ${chatPath} HTTP/1.1`, ...headers);
export const chunkedPost = post("Transfer-Encoding: chunked");

/** A whole request that is answered with 200 and costs nothing. */
export const get = (...headers: string[]): string => head("GET /gpt/v1/key HTTP/1.1", ...headers);

/** A request whose first line is this. */
export const ask = (first: string, ...headers: string[]): string => head(first, ...headers);

/** What is hidden in the body of another request: answered, it would be an answer to a request that nobody in front has seen. */
export const hidden = get();

export const sized = (text: string): string => `Content-Length: ${text.length}`;
export const sizeOf = (text: string): string => text.length.toString(16);
export const chunk = (text: string): string => `${sizeOf(text)}\r\n${text}\r\n`;
export const lastChunk = "0\r\n\r\n";
export const chunked = (text: string): string => chunk(text) + lastChunk;

const refusing =
  (status: number) =>
  (name: string, ...sends: string[]): Attack => ({ name, sends, answers: [status], closes: true });

export const refused = refusing(400);
export const refusedVersion = refusing(505);
export const tooLong = refusing(431);
export const dropped = (name: string, ...sends: string[]): Attack => ({ name, sends, answers: [], closes: true });

/** Answered with these statuses, and nothing else happens. */
export const answered = (statuses: number | number[], name: string, ...sends: string[]): Attack => ({
  name,
  sends,
  answers: typeof statuses === "number" ? [statuses] : statuses,
  closes: false,
});

/** It is an honest request after all: answered once, and charged once. */
export const honest = (name: string, ...sends: string[]): Attack => ({ ...answered(200, name, ...sends), charged: 1 });

/** The runtime hands the body over before it refuses what stands behind it. */
export const left = (attack: Attack): Attack => ({ ...attack, left: 1 });
