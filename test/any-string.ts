import fc from 'fast-check'

/** Any text, control characters and halves of surrogate pairs included. */
export const anyString = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((codes) => String.fromCharCode(...codes))
