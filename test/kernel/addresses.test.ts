import { expect, test } from "bun:test";
import { natsServers, readNatsAddress } from "../../src/kernel/addresses.ts";

test("servers of a cluster share what only the first has, or each has it", () => {
  const expected = { servers: ["one:4222", "two:4333"], user: "weir", password: "p,w@d", encrypted: true };
  expect(readNatsAddress("tls://weir:p,w%40d@one,two:4333")).toEqual(expected);
  expect(readNatsAddress("tls://weir:p,w%40d@one:4222,tls://weir:p,w%40d@two:4333")).toEqual(expected);
  expect(readNatsAddress("nats://[::1]:4222,[::2]")).toMatchObject({ servers: ["[::1]:4222", "[::2]:4222"], user: null });
});

test("each server has its address, so that each is checked", () => {
  expect(natsServers("nats://a:b@one,two:1")).toEqual(["nats://a:b@one", "nats://a:b@two:1"]);
});

test.each(["nats://", "one:4222", "nats://one,,two", "nats://one,tls://two", "nats://a@one,nats://b@two"])(
  "%p is no address of a cluster",
  (address) => {
    expect(() => readNatsAddress(address)).toThrow(/^it/);
  },
);
