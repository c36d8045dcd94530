/**
 * The configured OpenID Connect provider: where it signs people in, and whom it has signed in. The flow is the authorization code with
 * PKCE, with the scopes `openid` and `email`.
 *
 * Exchanges are bounded in number, per network and in time, so that no network starves the others. Calls follow no redirect, and answers
 * are bounded in bytes. The operator chose the provider, so it may be in a private network; plain http is allowed only on this machine.
 * Signatures of tokens are checked too.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  clockTolerance,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  type ClientAuth,
  type Configuration,
  type IDToken,
  type CustomFetch,
} from "openid-client";
import { createSafeFetch } from "../../http/safe-fetch.ts";
import { withDeadline, type Clock } from "../../kernel/clock.ts";
import type { OidcConfig } from "../../process/environment/services.ts";
import { memoizeFor } from "../../process/memoize-for.ts";
import * as limits from "../limits.ts";
import { FairSemaphore } from "../quotas/fair-semaphore.ts";

/** What ties the provider's answer to one sign-in of one browser. */
interface OidcProof {
  state: string;
  nonce: string;
  /** The verifier of PKCE. */
  verifier: string;
}

/** Whom the provider has signed in. */
export interface OidcIdentity {
  issuer: string;
  subject: string;
  /** null: the provider does not give it, or did not verify it. */
  verifiedEmail: string | null;
  /** When the person signed in there, in milliseconds; null: the provider does not say. */
  signedInAt: number | null;
}

/** The page to which the provider sends people back; with the public URL before it, it is registered there. */
export const oidcReturnPath = "/console/sign-in/oidc/return";

const exchangeLimits = {
  runningMax: limits.oidcExchangesMax,
  runningPerHolderMax: limits.oidcExchangesPerNetworkMax,
  waitingMax: limits.oidcExchangesWaitingMax,
  waitingPerHolderMax: limits.oidcExchangesWaitingPerNetworkMax,
  waitMs: limits.oidcExchangeMs,
};

/** The clocks of two services differ by less than this. */
const clockDifferenceSeconds = 60;
const scope = "openid email";

export class OidcProvider {
  readonly name: string;
  readonly #clock: Clock;
  readonly #redirectUri: URL;
  readonly #discovered: () => Promise<Configuration>;
  readonly #semaphore: FairSemaphore;

  /** @param publicUrl where people reach the service */
  constructor({ config, publicUrl, clock }: { config: OidcConfig; publicUrl: string; clock: Clock }) {
    this.name = config.name;
    this.#clock = clock;
    this.#redirectUri = new URL(oidcReturnPath, publicUrl);
    this.#discovered = memoizeFor(limits.oidcDiscoveryAgeMs, clock, () => discover(config, clock));
    this.#semaphore = new FairSemaphore({ clock, limits: exchangeLimits, busy: "Too many people are signing in right now" });
  }

  /**
   * Where the browser goes to sign in.
   * @param again whether the provider has to ask a person who signed in there more than an hour ago
   * @throws ProviderUnavailableError or an error of openid-client, if its discovery document cannot be read
   */
  async signInUrl({ state, nonce, verifier }: OidcProof, { again }: { again: boolean }): Promise<URL> {
    const configuration = await withDeadline(
      this.#clock,
      limits.oidcExchangeMs,
      "The OpenID Connect provider",
      this.#discovered(),
    );
    return buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri.href,
      scope,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(again && { max_age: String(limits.recentSignInMs / 1_000) }),
    });
  }

  /**
   * Exchanges the code with which a browser returned.
   * @param query of the address to which it returned
   * @param network of the browser, so that no network starves the others
   * @throws LimitReachedError; ProviderUnavailableError or an error of openid-client unless the answer is valid and belongs to this sign-in
   */
  async redeem(query: URLSearchParams, { proof, network }: { proof: OidcProof; network: string }): Promise<OidcIdentity> {
    const release = await this.#semaphore.acquire(network);
    try {
      return await withDeadline(this.#clock, limits.oidcExchangeMs, "The OpenID Connect provider", this.#exchange(query, proof));
    } finally {
      release();
    }
  }

  async #exchange(query: URLSearchParams, { state, nonce, verifier }: OidcProof): Promise<OidcIdentity> {
    const configuration = await this.#discovered();
    const returned = new URL(this.#redirectUri);
    returned.search = String(query);
    const tokens = await authorizationCodeGrant(configuration, returned, {
      pkceCodeVerifier: verifier,
      expectedState: state,
      expectedNonce: nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new TypeError("The provider gave no ID token");
    const mail = claims["email"] === undefined ? await userInfo(configuration, { token: tokens.access_token, claims }) : claims;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      verifiedEmail: verifiedEmail(mail),
      signedInAt: claims.auth_time === undefined ? null : claims.auth_time * 1_000,
    };
  }
}

/** The provider gave no usable answer; the person signing in is not at fault. */
export class ProviderUnavailableError extends Error {
  override name = "ProviderUnavailableError";
}

/** Calls the provider within the bounds above. */
export function oidcFetch(clock: Clock): CustomFetch {
  const safeFetch = createSafeFetch({ clock, configured: () => true });
  return async (address, { method, headers, body }) => {
    const url = new URL(address);
    requireTrustworthy(url);
    const answer = await safeFetch({
      method: method === "POST" ? "POST" : "GET",
      url,
      headers,
      body: method === "POST" ? textOf(body) : undefined,
      answerBytesMax: limits.oidcAnswerBytesMax,
      deadlineMs: limits.oidcCallMs,
      what: "The OpenID Connect provider",
    }).catch((cause: unknown) => {
      throw new ProviderUnavailableError("The provider did not answer", { cause });
    });
    if (answer.status >= 500 || answer.status === 429)
      throw new ProviderUnavailableError(`The provider answered ${answer.status}`);
    const type = answer.headers["content-type"];
    return new Response(Uint8Array.from(answer.body), {
      status: answer.status,
      headers: type === undefined ? {} : { "content-type": type },
    });
  };
}

function discover({ issuer, clientId, clientSecret }: OidcConfig, clock: Clock): Promise<Configuration> {
  const metadata = { client_secret: clientSecret.reveal(), [clockTolerance]: clockDifferenceSeconds };
  const isPlain = issuer.protocol === "http:";
  // The tokens' signatures are checked too, although they come from the provider itself.
  const execute = [...(isPlain ? [allowInsecureRequests] : []), enableNonRepudiationChecks];
  return discovery(issuer, clientId, metadata, clientAuthentication(clientSecret.reveal()), {
    [customFetch]: oidcFetch(clock),
    execute,
  });
}

/** Sends the secret in the body if the provider accepts that, as most do, else in the header, which every provider accepts. */
function clientAuthentication(clientSecret: string): ClientAuth {
  const [inBody, inHeader] = [ClientSecretPost(clientSecret), ClientSecretBasic(clientSecret)];
  return (server, client, body, headers) => {
    const takesBody = server.token_endpoint_auth_methods_supported?.includes("client_secret_post") ?? false;
    (takesBody ? inBody : inHeader)(server, client, body, headers);
  };
}

/** Some providers give the address only here. */
async function userInfo(
  configuration: Configuration,
  { token, claims }: { token: string; claims: IDToken },
): Promise<Record<string, unknown>> {
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return {};
  return fetchUserInfo(configuration, token, claims.sub);
}

function verifiedEmail({ email, email_verified: verified }: Record<string, unknown>): string | null {
  return typeof email === "string" && verified === true ? email : null;
}

/** The discovery document names the other addresses. Plain http is allowed only on this machine. */
function requireTrustworthy({ protocol, hostname }: URL): void {
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol === "https:" || (protocol === "http:" && isHere)) return;
  throw new ProviderUnavailableError("The provider's description names an address without TLS");
}

function textOf(body: unknown): string {
  return body instanceof URLSearchParams || typeof body === "string" ? String(body) : "";
}
