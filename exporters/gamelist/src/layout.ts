import type { ElementSpan } from './parse.ts'

/** The line end, and the indentation of a `game` and of its elements. */
export interface Layout {
  readonly eol: string
  readonly game: string
  readonly field: string
}

/** Finds the layout of the first entry, which new entries follow. */
export function findLayout (text: string, list: ElementSpan): Layout {
  const first = list.children.find(({ name }) => name === 'game')
  const game = findIndent(text, first) ?? '  '
  const field = findIndent(text, first?.children[0]) ?? game + (game || '  ')
  return { eol: findLineEnd(text), game, field }
}

export function findLineEnd (text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n'
}

/** Returns the line end and white space before an element; empty if the element does not begin its line. */
export function findLineSpace (text: string, offset: number): string {
  let start = offset
  while (text[start - 1] === ' ' || text[start - 1] === '\t') start--
  if (text[start - 1] !== '\n') return ''
  return text.slice(text[start - 2] === '\r' ? start - 2 : start - 1, offset)
}

/** Returns the end of an element's content without the white space before the end tag. */
export function findContentEnd (text: string, { contentStart, contentEnd }: ElementSpan): number {
  return contentStart + text.slice(contentStart, contentEnd).trimEnd().length
}

/** Returns the indentation; null without an element, or if the element does not begin its line. */
function findIndent (text: string, element: ElementSpan | undefined): string | null {
  const space = element === undefined ? '' : findLineSpace(text, element.start)
  return space === '' ? null : space.replace(/^\r?\n/, '')
}
