import { describe, expect, test } from "bun:test";
import { parseBaseUrl, isPublicAddress } from "../../src/http/public-address.ts";

describe("an address that IANA's registries do not list as globally reachable", () => {
  test.each([
    ...words(`
      0.0.0.0 10.255.0.1 100.64.0.1 100.127.255.255 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8
      192.0.2.1 192.168.0.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
      :: ::1 ::127.0.0.1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 ff02::1 100::1 2001::1 2001:db8::1 3fff::1 5f00::1
      64:ff9b:1::1 fec0::1 ::ffff:10.0.0.1 ::FFFF:7f00:1 0:0:0:0:0:ffff:a9fe:a9fe 64:ff9b::10.0.0.1 64:ff9b::7f00:1
      2002:7f00:1:: 2002:a00:1:2:3:4:5:6 2002:c0a8:101::1
    `),
    "no address",
    "",
  ])("the address %s is refused", (address) => expect(isPublicAddress(address)).toBe(false));

  test.each([
    ...words(`
      1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 223.255.255.255
      2606:4700::1111 2001:200::1 2a00::1 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::1
    `),
  ])("the neighbouring address %s is accepted", (address) => expect(isPublicAddress(address)).toBe(true));
});

describe("a base URL", () => {
  test.each([
    ...words(`
      http://acme.example ftp://acme.example acme.example https:// javascript:alert(1) https://user@acme.example
      https://user:word@acme.example https://acme.example?a=b https://acme.example/#a https://127.0.0.1
      https://127.1 https://2130706433 https://0x7f000001 https://0177.0.0.1 https://0x7f.1 https://127.0.0.1.
      https://①②⑦.0.0.1 https://%31%32%37.0.0.1 https://0 https://10.0.0.1:8443/api https://[::1]
      https://[::ffff:127.0.0.1] https://[0:0:0:0:0:ffff:7f00:1] https://[64:ff9b::a00:1] https://[2002:7f00:1::]
      https://[fe80::1] https://169.254.169.254/latest/meta-data https://localhost https://LOCALHOST.
      https://a.localhost https://intranet https://intranet. https://printer.local https://metadata.google.internal
      https://localhost.localdomain https://intranet.LocalDomain.:8443/api https://api.weir.svc https://box.home.arpa. https://ｌocalhost https://a.LOCAL.:443 https://1.1.1.1@10.0.0.1
    `),
    "",
  ])("a base URL that is not public is refused: %s", (text) => expect(() => parseBaseUrl(text)).toThrow("needed"));

  test.each(["https://acme.example", " https://ACME.example:8443/api/v1/ ", "https://1.1.1.1", "https://[2606:4700::1111]/"])(
    "a public base URL is accepted: %s",
    (text) => expect(parseBaseUrl(text).protocol).toBe("https:"),
  );
});

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
