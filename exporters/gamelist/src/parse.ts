import { SaxesParser } from 'saxes'

/**
 * An element with its offsets, in UTF-16 units of the document's text. The SDK's `parseXml` returns no offsets, and
 * without them the rest of the user's file could not keep its bytes.
 */
export interface ElementSpan {
  readonly name: string
  /** The offset of the `<` that opens the start tag. */
  readonly start: number
  /** The offset after the start tag. */
  readonly contentStart: number
  /** The offset of the end tag; `contentStart` in an empty-element tag such as `<desc/>`. */
  contentEnd: number
  /** The offset after the element. */
  end: number
  readonly selfClosing: boolean
  /** The element's own text, references resolved, without that of its children. */
  text: string
  readonly children: ElementSpan[]
}

/**
 * Finds the elements of a gamelist.xml. ES-DE puts `alternativeEmulator` beside `gameList`, so several top-level
 * elements are accepted.
 *
 * @throws Error when the text is not well-formed, has a DOCTYPE, or declares an encoding other than UTF-8.
 */
export function parseGamelist (text: string): ElementSpan[] {
  const document: Pick<ElementSpan, 'children' | 'text'> = { children: [], text: '' }
  const open: ElementSpan[] = []
  const parser = new SaxesParser({ fragment: true })
  const addText = (value: string) => { (open.at(-1) ?? document).text += value }
  parser.on('error', (err) => { throw refuse(err) })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('opentag', ({ name, isSelfClosing }) => {
    const contentStart = parser.position
    // An attribute cannot hold a `<`, so the nearest one before the position opens this tag.
    const start = text.lastIndexOf('<', contentStart - 1)
    const span = { name, start, contentStart, contentEnd: contentStart, end: contentStart, text: '', children: [] }
    const element = { ...span, selfClosing: isSelfClosing }
    ;(open.at(-1) ?? document).children.push(element)
    open.push(element)
  })
  parser.on('closetag', () => {
    const element = open.pop()
    if (element === undefined || element.selfClosing) return
    element.end = parser.position
    element.contentEnd = text.lastIndexOf('</', element.end - 1)
  })
  parser.write(blankDeclaration(text)).close()
  if (document.text.trim() !== '') throw refuse(new Error('there is text outside of all elements'))
  return document.children
}

/** Replaces the XML declaration, which a fragment must not have, by as many spaces, because offsets must not change. */
function blankDeclaration (text: string): string {
  const [declaration = ''] = /^\uFEFF?\s*<\?xml\s[^>]*\?>/.exec(text) ?? []
  const encoding = /encoding\s*=\s*["']([^"']*)/.exec(declaration)?.[1] ?? 'UTF-8'
  if (!/^(utf-?8|us-ascii)$/i.test(encoding)) {
    throw new Error(`gamelist.xml says its encoding is "${encoding}". Save it as UTF-8 and export again.`)
  }
  return ' '.repeat(declaration.length) + text.slice(declaration.length)
}

function refuse (err: Error): Error {
  if (err.message.includes('doctype declaration')) {
    return new Error('gamelist.xml has a DOCTYPE, which could pull in other files. Delete that line and export again.')
  }
  return new Error(`gamelist.xml cannot be read: ${err.message.replace(/\.$/, '')}. ` +
    'Correct it, or move the file away to have a new one written.', { cause: err })
}
