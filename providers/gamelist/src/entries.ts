import { posix } from 'node:path'
import { type XmlElement, parseXml, readId, readText, xmlChildren, xmlText } from '@svc/plugin-sdk'
import { normalizeEntryPath } from './paths.ts'

const EMULATOR_END = '</alternativeEmulator>'

/** One `game` of a gamelist.xml. A `folder` element describes a folder of the list, not the game in it. */
export interface Entry {
  /** Relative to the platform folder, without leading `./`; only the file name where the file has an absolute path. */
  readonly path: string
  /** The trimmed text of the children by element name; empty ones are left out, of repeated ones the first counts. */
  readonly text: ReadonlyMap<string, string>
  /** The game at ScreenScraper, for an entry that was scraped there. */
  readonly ssId: number | undefined
}

/** The entries of a file by path and by file name; of equal ones the last counts. */
export interface Gamelist {
  readonly byPath: ReadonlyMap<string, Entry>
  readonly byName: ReadonlyMap<string, Entry>
}

/**
 * The entries of a gamelist.xml, wherever they stand in it; those without a path in the platform folder are left out.
 * ES-DE's second root element `alternativeEmulator` is accepted, whatever it holds.
 *
 * @throws XmlError for text that is not well-formed, has a DOCTYPE or is over a limit.
 */
export function parseGamelist (xml: string, source: string): Gamelist {
  const byPath = new Map<string, Entry>()
  const byName = new Map<string, Entry>()
  for (const element of findEntries(parseElements(xml, source))) {
    const entry = toEntry(element)
    if (entry === undefined) continue
    byPath.set(entry.path, entry)
    byName.set(posix.basename(entry.path), entry)
  }
  return { byPath, byName }
}

function parseElements (xml: string, source: string): XmlElement[] {
  try {
    return parseXml(xml, { source })
  } catch (err) {
    const rest = blankEmulator(xml)
    if (rest === xml) throw err
    return parseXml(rest, { source })
  }
}

/** ES-DE writes the emulator's name as it is, with an `&` that is not escaped. Lines stay where they were. */
function blankEmulator (xml: string): string {
  const start = xml.indexOf('<alternativeEmulator')
  const tagEnd = xml.indexOf('>', start)
  const closing = xml.indexOf(EMULATOR_END, start)
  const end = xml[tagEnd - 1] === '/' ? tagEnd + 1 : closing + EMULATOR_END.length
  if (start === -1 || tagEnd === -1 || (end > tagEnd + 1 && closing === -1)) return xml
  return xml.slice(0, start) + xml.slice(start, end).replaceAll(/[^\n]/g, ' ') + xml.slice(end)
}

function * findEntries (elements: readonly XmlElement[]): Generator<XmlElement> {
  for (const element of elements) {
    if (element.name === 'game') yield element
    yield * findEntries(xmlChildren(element))
  }
}

function toEntry (element: XmlElement): Entry | undefined {
  const text = new Map<string, string>()
  for (const child of xmlChildren(element)) {
    const value = xmlText(child)
    if (value !== '' && !text.has(child.name)) text.set(child.name, value)
  }
  const path = normalizeEntryPath(text.get('path') ?? '')
  return path === undefined ? undefined : { path, text, ssId: readSsId(element) }
}

/** Scrapers write the id as an attribute, with the name of the service beside it. */
function readSsId ({ attributes }: XmlElement): number | undefined {
  return /^screenscraper\b/i.test(readText(attributes, 'source') ?? '') ? readId(attributes, 'id') : undefined
}
