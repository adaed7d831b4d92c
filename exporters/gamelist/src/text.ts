/** What XML 1.0 has no way to hold, not even as a reference: https://www.w3.org/TR/xml/#charsets */
const FORBIDDEN = /[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu

/** Whether XML 1.0 can hold the text unchanged. */
export function isWritable (text: string): boolean {
  return text.search(FORBIDDEN) === -1
}

/** Text for display: characters XML forbids are left out, line ends become line feeds, the ends are trimmed. */
export function cleanText (text: string): string {
  return text.replace(FORBIDDEN, '').replace(/\r\n?/g, '\n').trim()
}

/** As {@link cleanText}, on one line. */
export function cleanLine (text: string): string {
  return cleanText(text).replace(/\s*\n\s*/g, ' ')
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' }

/** Text as it stands between tags. A carriage return would otherwise be read back as a line feed. */
export function escapeText (text: string): string {
  return text.replace(/[&<>\r]/g, (character) => ESCAPES[character] ?? character)
}
