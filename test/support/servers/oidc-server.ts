/** A real OpenID Connect server in this process, and a browser that follows its pages. The person that the test names signs in at once. */
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import { once } from "node:events";
import type { Configuration } from "oidc-provider";
import type { OidcConfig } from "../../../src/process/environment/services.ts";
import { Secret } from "../../../src/kernel/secret.ts";

export interface OidcPerson {
  subject: string;
  email: string;
  verified: boolean;
}

const clientId = "weir";
const clientSecret = "client-secret-of-the-tests";

export class OidcServer implements AsyncDisposable {
  readonly issuer: string;
  /** Those who signed in, by subject; the last one signs in next. */
  readonly #people = new Map<string, OidcPerson>();
  #subject = "";
  readonly #stop: () => void;

  private constructor(issuer: string, stop: () => void) {
    this.issuer = issuer;
    this.#stop = stop;
  }

  /** @param addressIn where it gives the address */
  static async start(redirectUri: string, addressIn: "ID token" | "user info" = "ID token"): Promise<OidcServer> {
    const http = createServer();
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    const address = http.address();
    if (typeof address !== "object" || address === null) throw new Error("The server has no address");
    const server = new OidcServer(`http://127.0.0.1:${address.port}`, () => {
      http.close();
      http.closeAllConnections();
    });
    const provider = await quietly(async () => {
      const { default: Provider } = await import("oidc-provider");
      return new Provider(server.issuer, server.#configuration(redirectUri, addressIn));
    });
    const handle = provider.callback();
    http.on("request", (request, response) => {
      if (!request.url?.startsWith("/interaction/")) return handle(request, response);
      const result = { login: { accountId: server.#subject } };
      void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    });
    return server;
  }

  get config(): OidcConfig {
    return { issuer: new URL(this.issuer), clientId, clientSecret: new Secret(clientSecret), name: "Example ID" };
  }

  /** Who signs in next, whatever the browser. */
  nextPerson(person: OidcPerson): void {
    this.#subject = person.subject;
    this.#people.set(person.subject, person);
  }

  /** Signs a person in, as a browser that has never been here. @returns the query with which it is sent back */
  async signIn(url: string, person: OidcPerson): Promise<URLSearchParams> {
    this.nextPerson(person);
    const cookies = new Map<string, string>();
    for (let at = url; at.startsWith(this.issuer);) {
      const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
      const answer = await fetch(at, { redirect: "manual", headers });
      for (const cookie of answer.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        cookies.set(name, value);
      }
      const location = answer.headers.get("location");
      if (location === null) throw new Error(`${at} answered ${answer.status}: ${await answer.text()}`);
      at = new URL(location, at).href;
      if (!at.startsWith(this.issuer)) return new URL(at).searchParams;
    }
    throw new Error(`${url} is not of this server`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop();
  }

  #configuration(redirectUri: string, addressIn: "ID token" | "user info"): Configuration {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = { ...privateKey.export({ format: "jwk" }), use: "sig", alg: "ES256", kid: "key" };
    const client = {
      client_id: clientId,
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: "client_secret_post",
      id_token_signed_response_alg: "ES256",
    };
    return {
      clients: [client],
      jwks: { keys: [key] },
      cookies: { keys: ["cookie-key-of-the-tests"] },
      claims: { openid: ["sub", "auth_time"], email: ["email", "email_verified"] },
      conformIdTokenClaims: addressIn === "user info",
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      pkce: { required: () => true },
      ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      findAccount: async (_context, id) => {
        const { email, verified } = this.#people.get(id) ?? { email: "", verified: false };
        return { accountId: id, claims: async () => ({ sub: id, email, email_verified: verified }) };
      },
      async loadExistingGrant({ oidc: { provider, client: of, session } }) {
        const grant = new provider.Grant({ clientId: of.clientId, accountId: session.accountId });
        grant.addOIDCScope("openid email");
        await grant.save();
        return grant;
      },
    };
  }
}

/** The package warns of what only matters where it serves people. */
async function quietly<T>(make: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await make();
  } finally {
    console.warn = warn;
  }
}
