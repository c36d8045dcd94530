/** What the official package sends, attempt by attempt: it asks and waits as it always does, but for the length of its waits. */

export interface Attempt {
  status: number;
  /** As they came. */
  headers: Headers;
}

export interface CountingFetch {
  attempts: Attempt[];
  fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
}

/** Passes answers on with a wait of a millisecond in place of the one they ask for, which alone would take minutes. */
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
