import { type XmlElement, readUrl, toPlainText, xmlChildren, xmlText } from '@svc/plugin-sdk'

const ENTITY = /&(?:[a-z][a-z\d]*|#\d+|#x[\da-f]+);/i

/** All elements at the end of a path of names. */
export function listElements (element: XmlElement, ...[name, ...below]: string[]): XmlElement[] {
  if (name === undefined) return [element]
  return xmlChildren(element, name).flatMap((child) => listElements(child, ...below))
}

/** The text of the first element at the end of a path that has one; entities of HTML are read as well. */
export function textOf (element: XmlElement, ...path: string[]): string | undefined {
  const text = listElements(element, ...path).map(xmlText).find((text) => text !== '')
  return text !== undefined && ENTITY.test(text) ? toPlainText(text) : text
}

/** The address in such an element. */
export function urlOf (element: XmlElement, ...path: string[]): string | undefined {
  const url = textOf(element, ...path)
  return readUrl({ url }, 'url')?.replace(/^http:/i, 'https:')
}
