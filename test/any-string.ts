import fc from 'fast-check'

/** Any text, control characters and halves of surrogate pairs included. */
export const anyString = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes))

/**
 * Any character except halves of surrogate pairs. The `binary` of fast-check first builds a table of a million
 * characters.
 */
export const character = fc.oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code))
