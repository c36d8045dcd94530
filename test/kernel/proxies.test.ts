/** Who a request is from, behind proxies that the operator names. */
import { expect, test } from "bun:test";
import { TrustedProxies } from "../../src/kernel/proxies.ts";

const clientOf = (trusted: string[], peer: string | null, forwarded?: string): string | null => {
  const request = new Request("http://weir/", { headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded } });
  return new TrustedProxies(trusted).clientOf(request, { requestIP: () => (peer === null ? null : { address: peer }) });
};

test.each<[string, string[], string | null, string | undefined, string | null]>([
  ["without a trusted proxy the header counts for nothing", [], "127.0.0.1", "198.51.100.7", "127.0.0.1"],
  ["of a peer that is not trusted neither", ["10.0.0.0/8"], "192.0.2.1", "198.51.100.7", "192.0.2.1"],
  ["a trusted proxy tells its client", ["127.0.0.1"], "127.0.0.1", "198.51.100.7", "198.51.100.7"],
  [
    "what the client wrote stands before it and counts for nothing",
    ["127.0.0.1"],
    "127.0.0.1",
    "10.1.1.1, 198.51.100.7",
    "198.51.100.7",
  ],
  [
    "a chain is followed to the last address that is not trusted",
    ["10.0.0.0/8"],
    "10.0.0.1",
    "1.1.1.1, 198.51.100.7, 10.2.3.4",
    "198.51.100.7",
  ],
  ["a trusted proxy without the header is the client", ["127.0.0.1"], "127.0.0.1", undefined, "127.0.0.1"],
  ["all trusted: the first of them", ["10.0.0.0/8"], "10.0.0.1", "10.9.9.9, 10.2.3.4", "10.9.9.9"],
  ["what is no address ends the search", ["10.0.0.0/8"], "10.0.0.1", "198.51.100.7, unknown, 10.2.3.4", "10.2.3.4"],
  ["an address with a port", ["10.0.0.1"], "10.0.0.1", "198.51.100.7:4711", "198.51.100.7"],
  ["IPv6, in brackets and with a port", ["2001:db8::/32"], "2001:db8::1", "[2001:db9::7]:4711", "2001:db9::7"],
  ["IPv4 as a socket for both families shows it", ["10.0.0.0/8"], "::ffff:10.0.0.1", "::ffff:198.51.100.7", "198.51.100.7"],
  ["an unknown peer", ["10.0.0.0/8"], null, "198.51.100.7", null],
])("%s", (_, trusted, peer, forwarded, expected) => {
  expect(clientOf(trusted, peer, forwarded)).toBe(expected);
});

test("a header full of addresses is read to a bounded depth", () => {
  const many = Array.from({ length: 2_000 }, () => "10.0.0.2").join(",");
  expect(clientOf(["10.0.0.0/8"], "10.0.0.1", `198.51.100.7,${many}`)).toBe("10.0.0.2");
});

test.each(["proxy.example", "10.0.0", "10.0.0.0/33", "10.0.0.0/8/8", "10.0.0.0/x", "0.0.0.0/0", "::/0", "", "10.0.0.1 10.0.0.2"])(
  "%p is no proxy to be trusted",
  (name) => {
    expect(() => new TrustedProxies([name])).toThrow(TypeError);
  },
);
