/** Characters that XML 1.0 cannot hold, not even as a reference: https://www.w3.org/TR/xml/#charsets */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** True if XML 1.0 can hold the text unchanged. */
export function isWritable (text: string): boolean {
  return text.search(FORBIDDEN) === -1
}

/** Removes characters that XML forbids, converts line ends to line feeds, and trims. */
export function cleanText (text: string): string {
  return text.replace(FORBIDDEN, '').replace(/\r\n?/g, '\n').trim()
}

/** Cleans text like {@link cleanText}, on one line. */
export function cleanLine (text: string): string {
  return cleanText(text).replace(/\s*\n\s*/g, ' ')
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }

/** Escapes text between tags. Without an escape, a carriage return would become a line feed when read. */
export function escapeText (text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character)
}
