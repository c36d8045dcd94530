/** Bytes that a client may write to a socket, and the promised outcome. */

export interface Attack {
  name: string;
  /** Texts to write. Each is written when the answer to the previous one has arrived. */
  sends: string[];
  /** The statuses of all answers. Afterwards the connection is closed, or serves the next request normally. */
  answers: number[];
  closes: boolean;
  /** How many requests are accepted, each for the price of "Hello" by `sandbox/echo`. */
  charged?: number;
  /** How many requests are accepted, but abandoned by their client before the provider is called, so that they cost nothing. */
  abandoned?: number;
}

/** A placeholder for the key, of the same length, since the lengths below are counted before the key is inserted. */
export const keyMark = "platform-api-".padEnd("platform-api-".length + 64, "?");

export const body = JSON.stringify({ model: "sandbox/echo", messages: [{ role: "user", content: "Hello" }] });
export const chatPath = "/gpt/v1/chat/completions";

const authorization = `Authorization: Bearer ${keyMark}`;

/** A request head with its final empty line. */
function head(first: string, ...headers: string[]): string {
  return [first, "Host: weir", authorization, ...headers, "", ""].join("\r\n");
}

/** The head of a chat completion. */
export const post = (...headers: string[]): string => head(`POST ${chatPath} HTTP/1.1`, ...headers);
export const chunkedPost = post("Transfer-Encoding: chunked");

/** A complete request that is answered with 200 and costs nothing. */
export const get = (...headers: string[]): string => head("GET /gpt/v1/key HTTP/1.1", ...headers);

/** A request with this first line. */
export const ask = (first: string, ...headers: string[]): string => head(first, ...headers);

/** A request hidden in the body of another. An answer to it would be an answer to a request that no proxy in front has seen. */
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

/** Answered with these statuses, without any other effect. */
export const answered = (statuses: number | number[], name: string, ...sends: string[]): Attack => ({
  name,
  sends,
  answers: typeof statuses === "number" ? [statuses] : statuses,
  closes: false,
});

/** A valid request: answered once, and charged once. */
export const honest = (name: string, ...sends: string[]): Attack => ({ ...answered(200, name, ...sends), charged: 1 });

/** The runtime delivers the body before it refuses the bytes after it. */
export const abandoned = (attack: Attack): Attack => ({ ...attack, abandoned: 1 });
