import type { ElementSpan } from './parse.ts'

/** The line end, and the white space before a `game` and before its elements. */
export interface Layout {
  readonly eol: string
  readonly game: string
  readonly field: string
}

/** New entries are laid out like the first one that is there. */
export function findLayout (text: string, list: ElementSpan): Layout {
  const first = list.children.find(({ name }) => name === 'game')
  const game = findIndent(text, first) ?? '  '
  const field = findIndent(text, first?.children[0]) ?? game + (game || '  ')
  return { eol: findLineEnd(text), game, field }
}

export function findLineEnd (text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** The line end and white space before an element that begins its line, else empty. */
export function findLineSpace (text: string, offset: number): string {
  let start = offset
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  if (text[start - 1] !== '\n') return ''
  return text.slice(text[start - 2] === '\r' ? start - 2 : start - 1, offset)
}

/** Where an element's content ends, white space before its end tag not counted. */
export function findContentEnd (text: string, { contentStart, contentEnd }: ElementSpan): number {
  return contentStart + text.slice(contentStart, contentEnd).trimEnd().length
}

/** Null without an element, and for one that does not begin its line. */
function findIndent (text: string, element: ElementSpan | undefined): string | null {
  const space = element === undefined ? '' : findLineSpace(text, element.start)
  return space === '' ? null : space.replace(/^\r?\n/, '')
}
