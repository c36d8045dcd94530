import type { ProbeAnswer, ProbeFetch } from "../probe.ts";

/**
 * Exchanges credentials for an access token (RFC 6749), then calls with it. Without a token, the result is the vendor's answer.
 * @param grant the form of the token request
 */
export async function callWithToken(
  { tokenUrl, grant, url }: { tokenUrl: URL; grant: Record<string, string>; url: URL },
  probeFetch: ProbeFetch,
): Promise<ProbeAnswer> {
  const answer = await probeFetch({
    method: "POST",
    url: tokenUrl,
    headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(grant).toString(),
  });
  // By RFC 6749, 5.2 the status of wrong credentials is 400 or 401.
  if (answer.status === 400) return { ...answer, status: 401 };
  if (answer.status !== 200) return answer;
  const token = tokenIn(answer.body);
  if (token === null) return { status: answer.status, body: "" };
  return probeFetch({ method: "GET", url, headers: { accept: "application/json", authorization: `Bearer ${token}` } });
}

function tokenIn(body: string): string | null {
  try {
    const { access_token: token } = JSON.parse(body);
    return typeof token === "string" ? token : null;
  } catch {
    return null;
  }
}
