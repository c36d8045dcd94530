import { describe, test } from "bun:test";
import { expectOrder, expectUnknown } from "../../support/security/version-table.ts";

const scheme = "PyPI";

describe("PEP 440, https://peps.python.org/pep-0440/", () => {
  test("the summary of permitted suffixes is in its order", () => {
    expectOrder({
      scheme,
      rows: [
        "1.0.dev456",
        "1.0a1",
        "1.0a2.dev456",
        "1.0a12.dev456",
        "1.0a12",
        "1.0b1.dev456",
        "1.0b2",
        "1.0b2.post345.dev456",
        "1.0b2.post345",
        "1.0rc1.dev456",
        "1.0rc1",
        "1.0",
        "1.0+abc.5",
        "1.0+abc.7",
        "1.0+5",
        "1.0.post456.dev34",
        "1.0.post456",
        "1.0.15",
        "1.1.dev1",
      ],
    });
  });

  test("epochs come first", () => {
    expectOrder({ scheme, rows: ["0.9", "2013.10", "2014.04", "1!0.1", "1!1.0", "1!2.0", "2!0.1.dev1"] });
  });

  test("trailing zeros, case, v, white space and separators do not count", () => {
    expectOrder({
      scheme,
      rows: [
        "1.1a1 1.1.alpha1 1.1-ALPHA_1 v1.1a.1 1.1a01",
        "1.1b0 1.1beta 1.1.b",
        "1.1rc2 1.1c2 1.1-pre2 1.1preview_2",
        "1.1 1.1.0 v1.1 01.1.0.0 0!1.1",
        "1.1.post0.dev1 1.1-0.dev1",
        "1.1.post0 1.1.post 1.1-r 1.1.rev0",
        "1.1.post3 1.1-3 1.1.r3 1.1rev3",
        "1.2.dev0 1.2dev 1.2-dev_0",
      ],
    });
  });

  test("local versions compare by segments, numbers above words, longer above shorter", () => {
    expectOrder({
      scheme,
      rows: [
        "1.0",
        "1.0+a",
        "1.0+ubuntu",
        "1.0+ubuntu.1 1.0+Ubuntu-1 1.0+ubuntu_01",
        "1.0+1",
        "1.0+1.a",
        "1.0+1.0",
        "1.0+2",
        "1.0+10",
      ],
    });
  });

  test("a release comes after its candidates", () => {
    expectOrder({ scheme, rows: ["24.6.9", "24.7.0rc1", "24.7.0", "24.7.0.post1"] });
  });

  test("numbers beyond 2^53 compare exactly", () => {
    expectOrder({
      scheme,
      rows: [
        "1.9007199254740992",
        "1.9007199254740993",
        "20180115095559000000000000",
        "20180115095559000000000001",
        "9007199254740993!0",
      ],
    });
  });
});

describe("legacy versions, https://packaging.pypa.io/en/20.9/version.html", () => {
  test("come before all that PEP 440 knows", () => {
    expectOrder({ scheme, rows: ["9.9-final", "0.0.1.dev0", "0.1"] });
    expectOrder({ scheme, rows: ["2013-01-21T20:33:09+0100", "2014-01-12T15-52-10", "0"] });
  });

  test("keep the order of setuptools", () => {
    expectOrder({ scheme, rows: ["0.7.4.svn.r2009", "0.7.4.svn.r2010", "0.7.10p1", "0.7.11p1", "0.7.11p2", "0.8.1p1"] });
    expectOrder({ scheme, rows: ["0.7.0d 0.7d", "0.7.0-x 0.7-x"] });
    expectOrder({ scheme, rows: ["0.3.2d.dev", "0.3.2d", "0.3.2e.dev", "0.3.2f.dev", "0.3.2f", "0.3.2g.dev"] });
    expectOrder({ scheme, rows: ["1.0-x-dev", "1.0-x-alpha", "1.0-x", "1.0.1-x"] });
    expectOrder({ scheme, rows: ["2004c.x", "2004d.x", "2005a.x", "10000000000000000d.x"] });
  });

  test("a text that is no version at all is unknown", () => {
    expectUnknown({
      scheme,
      texts: ["", "latest", "unreleased", "0.6.0,<1", ">=1.0", "1.0 final 2", "${version}", "git+https://x/y@1", "*"],
    });
  });
});
