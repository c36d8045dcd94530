/** A key and a certificate for TLS, created when a test runs: no private key is in the repository, and no tool is needed. */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { Secure } from "./raw-server.ts";

const ecdsaWithSha256 = "1.2.840.10045.4.3.2";
const commonName = "2.5.4.3";
const subjectAltName = "2.5.29.17";
const basicConstraints = "2.5.29.19";

/** Signed by itself, for this host and for an hour, encoded by RFC 5280. */
export function selfSigned(host: string): Secure {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = sequence(objectId(ecdsaWithSha256));
  const name = sequence(set(sequence(objectId(commonName), der(0x0c, Buffer.from(host)))));
  const facts = sequence(
    der(0xa0, integer(Buffer.of(2))),
    integer(Buffer.concat([Buffer.of(1), randomBytes(15)])),
    algorithm,
    name,
    sequence(time(Date.now() - 3_600_000), time(Date.now() + 3_600_000)),
    name,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(isAuthority, extension(subjectAltName, sequence(der(0x82, Buffer.from(host)))))),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", facts, privateKey)]));
  const certificate = sequence(facts, algorithm, signature);
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })),
    cert: Buffer.from(["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n")),
  };
}

/** A tag, the length of the content in as few bytes as possible, and the content. */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.of(tag, length), content]);
  const digits = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, 0x80 | digits.length, ...digits), content]);
}

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts));
const set = (...parts: Buffer[]): Buffer => der(0x31, Buffer.concat(parts));
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);

const yes = der(0x01, Buffer.of(0xff));
/** The certificate may sign itself. */
const isAuthority = sequence(objectId(basicConstraints), yes, der(0x04, sequence(yes)));

function extension(id: string, value: Buffer): Buffer {
  return sequence(objectId(id), der(0x04, value));
}

/** Numbers in base 128, the first two in one. */
function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(number: number): number[] {
  const digits = [number & 0x7f];
  for (let left = number >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** Such as `261120160000Z`: years before 2050 have two digits. */
function time(at: number): Buffer {
  return der(
    0x17,
    Buffer.from(
      new Date(at)
        .toISOString()
        .slice(2)
        .replace(/\.\d+|[-:T]/g, ""),
    ),
  );
}
