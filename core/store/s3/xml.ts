import type * as Saxes from 'saxes'
import { createRequire } from 'node:module'

/** A text in a response of S3, with the names of the elements around it. */
export interface XmlText { path: string, text: string }

/** An answer of S3 has at most 1,000 entries. */
const XML_MAX_CHARACTERS = 4 * 1024 ** 2

// Loaded at the first response, because most servers have no such store.
const loadSaxes = () => createRequire(import.meta.url)('saxes') as typeof Saxes

/**
 * Reads all texts of a response, in order. `path` joins the names below the root with `/`.
 *
 * @throws Error if the text is no XML
 */
export function readXml (xml: string): XmlText[] {
  if (xml.length > XML_MAX_CHARACTERS) throw new Error('the response is too long')
  const texts: XmlText[] = []
  const open: string[] = []
  let text = ''
  const { SaxesParser } = loadSaxes()
  const parser = new SaxesParser({ xmlns: false })
  parser.on('opentag', ({ name }) => {
    open.push(name)
    text = ''
  })
  parser.on('text', (part) => { text += part })
  parser.on('closetag', () => {
    texts.push({ path: open.slice(1).join('/'), text })
    open.pop()
    text = ''
  })
  parser.on('error', (err) => { throw err })
  parser.write(xml).close()
  return texts
}

/** Returns the first text at a path; null if there is none. */
export const findText = (texts: readonly XmlText[], path: string): string | null =>
  texts.find((one) => one.path === path)?.text ?? null

/** Groups the texts of a list by its entries; each entry becomes its texts by name. */
export function readEntries (texts: readonly XmlText[], path: string): Map<string, string>[] {
  const entries: Map<string, string>[] = []
  let current = new Map<string, string>()
  for (const one of texts) {
    if (one.path === path) {
      entries.push(current)
      current = new Map()
    } else if (one.path.startsWith(`${path}/`)) current.set(one.path.slice(path.length + 1), one.text)
  }
  return entries
}

export const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
