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
/** Markup that creates lines. With inline markup only, the line breaks of the source text are intended. */
const LINE_MARKUP = /<\/?(?:p|br|div|h[1-6]|hr|[uod]l|li|d[td]|table|t[rdh]|blockquote|pre|section|article)\b/i
// Text of providers is far shorter; the rest of a longer text is not worth the time.
const MAX_CHARACTERS = 200_000

let converters: ReturnType<typeof createConverters> | undefined

/**
 * Creates the converters once, because that takes far longer than converting a usual text. Most processes convert
 * none.
 */
function createConverters () {
  const { compile } = require('html-to-text') as typeof HtmlToText
  return {
    markup: compile({ ...OPTIONS, preserveNewlines: false }),
    lines: compile({ ...OPTIONS, preserveNewlines: true })
  }
}

/** Converts HTML, or plain text with HTML entities, to text. Keeps paragraphs, lists and lines, and removes tags. */
export function toPlainText (html: string): string {
  converters ??= createConverters()
  const convert = LINE_MARKUP.test(html) ? converters.markup : converters.lines
  return convert(html.slice(0, MAX_CHARACTERS)).replaceAll('\u00a0', ' ').trim()
}
