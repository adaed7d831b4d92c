// JavaScript without types, because strip-hook.js imports it before anything can remove them.

/** Code in which an escape may mean something else: whitespace beyond ASCII, a backslash before it, a raw template. */
const UNSAFE = /(?![\0-\x7f])\s|\\[^\0-\x7f]|\.raw\b|(?=[\u{10000}-\u{10ffff}])\p{ID_Continue}/u

/**
 * Writes characters beyond ASCII as escapes if one is beyond Latin-1, because V8 then stores the text in twice the
 * bytes. Returns code whose meaning that may change as it is.
 */
export function toAscii (code) {
  if (!/[^\0-\xff]/.test(code) || UNSAFE.test(code)) return code
  const ascii = code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  // A copy, because V8 stores what it replaced as wide as before.
  return Buffer.from(ascii, 'latin1').toString('latin1')
}
