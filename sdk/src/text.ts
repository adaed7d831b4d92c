import { createRequire } from 'node:module'
import type * as HtmlToText from 'html-to-text'

const require = createRequire(import.meta.url)

const OPTIONS: HtmlToText.HtmlToTextOptions = {
  wordwrap: false,
  selectors: [
    { selector: 'a', options: { ignoreHref: true } },
    { selector: 'img', format: 'skip' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } }))
  ]
}
/** Markup that makes lines of its own. Beside inline marks alone, the lines of the text are those that were meant. */
const LINE_MARKUP = /<\/?(?:p|br|div|h[1-6]|hr|[uod]l|li|d[td]|table|t[rdh]|blockquote|pre|section|article)\b/i
// Text of sources is far shorter; what is longer is not worth the time.
const MAX_CHARACTERS = 200_000

let converters: ReturnType<typeof createConverters> | undefined

/** Made once: it takes far longer than converting a text of the usual length. Most processes convert none. */
function createConverters () {
  const { compile } = require('html-to-text') as typeof HtmlToText
  return {
    markup: compile({ ...OPTIONS, preserveNewlines: false }),
    lines: compile({ ...OPTIONS, preserveNewlines: true })
  }
}

/** The text of HTML, or of plain text with HTML's entities in it: paragraphs, lists and lines are kept, tags go. */
export function toPlainText (html: string): string {
  converters ??= createConverters()
  const convert = LINE_MARKUP.test(html) ? converters.markup : converters.lines
  return convert(html.slice(0, MAX_CHARACTERS)).replaceAll('\u00a0', ' ').trim()
}
