import fc from 'fast-check'

/** Any text, control characters and halves of surrogate pairs included. */
export const anyString = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes))

/** Any character, no half of a surrogate pair. The `binary` of fast-check makes a table of a million of them first. */
export const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
