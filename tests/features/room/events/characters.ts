import fc from "fast-check";

/** Any UTF-16, half surrogates included; the library's own units take a second to set up. */
export const anyCharacter = fc
  .oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff), fc.integer({ min: 0xd800, max: 0xdfff }))
  .map((code) => String.fromCodePoint(code));
