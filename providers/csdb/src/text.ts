import { readUrl, toPlainText } from '@svc/plugin-sdk/readers'
import { type XmlElement, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'

const ENTITY = /&(?:[a-z][a-z\d]*|#\d+|#x[\da-f]+);/i

/** Lists all elements at the end of a path of names. */
export function listElements (element: XmlElement, ...[name, ...below]: string[]): XmlElement[] {
  if (name === undefined) return [element]
  return xmlChildren(element, name).flatMap((child) => listElements(child, ...below))
}

/** Returns the first text at the end of a path, with HTML entities decoded. */
export function textOf (element: XmlElement, ...path: string[]): string | undefined {
  const text = listElements(element, ...path).map(xmlText).find((text) => text !== '')
  return text !== undefined && ENTITY.test(text) ? toPlainText(text) : text
}

/** Returns the URL at the end of a path, with `https`. */
export function urlOf (element: XmlElement, ...path: string[]): string | undefined {
  const url = textOf(element, ...path)
  return readUrl({ url }, 'url')?.replace(/^http:/i, 'https:')
}
