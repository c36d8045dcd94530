/** Codes of an app: the standard's own examples, and which steps count. */
import { expect, test } from "bun:test";
import { showAuthenticatorSecret, base32, matchingStep, totpCode, totpStep } from "../../../src/accounts/second-factor/totp.ts";
import { hashRecoveryCode, newRecoveryCodes } from "../../../src/accounts/second-factor/recovery-codes.ts";

const secret = Buffer.from("12345678901234567890");

// RFC 6238, appendix B; an app with six digits shows the last six of eight.
test.each([
  [59, "287082"],
  [1_111_111_109, "081804"],
  [1_111_111_111, "050471"],
  [1_234_567_890, "005924"],
  [2_000_000_000, "279037"],
  [20_000_000_000, "353130"],
])("the code at second %d is that of the standard", (second, code) => {
  expect(totpCode(secret, totpStep(second * 1_000))).toBe(code);
});

test("a code counts in its own step, the one before and the one after, and not once more", () => {
  const nowMs = 1_111_111_111_000;
  const step = totpStep(nowMs);
  const match = (of: number, after = 0) => matchingStep(secret, { code: totpCode(secret, of), nowMs, after });
  expect([-2, -1, 0, 1, 2].map((off) => match(step + off))).toEqual([null, step - 1, step, step + 1, null]);
  expect([match(step, step), match(step - 1, step), match(step + 1, step)]).toEqual([null, null, step + 1]);
  expect(["", "12345", "1234567"].map((code) => matchingStep(secret, { code, nowMs, after: 0 }))).toEqual([null, null, null]);
});

// RFC 4648, section 10.
test.each([
  ["", ""],
  ["f", "MY"],
  ["fo", "MZXQ"],
  ["foo", "MZXW6"],
  ["foob", "MZXW6YQ"],
  ["fooba", "MZXW6YTB"],
  ["foobar", "MZXW6YTBOI"],
])("base 32 of %p is %p", (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

test("the address for an app names the service, the account and the secret", () => {
  const { uri } = showAuthenticatorSecret(secret, { email: "a+b@acme", issuer: "Weir weir.example.com" });
  expect(uri).toBe(
    "otpauth://totp/Weir%20weir.example.com:a%2Bb%40acme?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" +
      "&issuer=Weir%20weir.example.com",
  );
});

test("ten different recovery codes are made, and spaces, hyphens and capitals do not matter", () => {
  const codes = newRecoveryCodes();
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  const [code = ""] = codes;
  expect(hashRecoveryCode(` ${code.toUpperCase().replaceAll("-", " ")} `)).toBe(hashRecoveryCode(code));
  expect(hashRecoveryCode("abcd-efgh")).toBeNull();
});
