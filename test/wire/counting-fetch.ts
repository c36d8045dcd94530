/** Counts the attempts of the official package, which retries as usual, but with shortened waits. */

export interface Attempt {
  status: number;
  /** The statuses of all attempts, in order. */
  headers: Headers;
}

export interface CountingFetch {
  attempts: Attempt[];
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
}

/** Replaces the Retry-After of answers with a millisecond, since the real waits would take minutes. */
export function countingFetch(): CountingFetch {
  const attempts: Attempt[] = [];
  return {
    attempts,
    async fetch(url, init) {
      const response = await fetch(url, init);
      attempts.push({ status: response.status, headers: response.headers });
      const headers = new Headers(response.headers);
      headers.set("retry-after-ms", "1");
      return new Response(response.body, { status: response.status, headers });
    },
  };
}
