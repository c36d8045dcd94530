/** The characters that JSON texts are made of, as bytes of UTF-8 and as code units alike, for those who look before they parse. */
export const quote = 0x22;
export const backslash = 0x5c;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
/** It and everything below it stands between values alone. */
export const space = 0x20;
