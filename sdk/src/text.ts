import { type HtmlToTextOptions, compile } from 'html-to-text'

const OPTIONS: HtmlToTextOptions = {
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))
  ]
}
// Compiled once: making a converter takes far longer than converting a text of the usual length.
const convertMarkup = compile({ ...OPTIONS, preserveNewlines: false })
const convertLines = compile({ ...OPTIONS, preserveNewlines: true })
const MARKUP = /<[a-z/!]/i
// Text of sources is far shorter; what is longer is not worth the time.
const MAX_CHARACTERS = 200_000

/** The text of HTML, or of plain text with HTML's entities in it: paragraphs, lists and lines are kept, tags go. */
export function toPlainText (html: string): string {
  const convert = MARKUP.test(html) ? convertMarkup : convertLines
  return convert(html.slice(0, MAX_CHARACTERS)).replaceAll('\u00a0', ' ').trim()
}
