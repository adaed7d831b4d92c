import { posix } from 'node:path'
import { readId, readText } from '@svc/plugin-sdk/readers'
import { type XmlElement, parseXml, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'
import { normalizeEntryPath } from './paths.ts'

const EMULATOR_END = '</alternativeEmulator>'

/** One `game` of a gamelist.xml. A `folder` element describes a folder of the list, not the game in it. */
export interface Entry {
  /**
   * The path relative to the platform folder, without leading `./`; only the file name if the file has an absolute
   * path.
   */
  readonly path: string
  /** The trimmed text of the children by element name. Empty ones are skipped; the first of repeated ones counts. */
  readonly text: ReadonlyMap<string, string>
  /** The id at ScreenScraper, for an entry scraped there. */
  readonly ssId: number | undefined
}

/** The entries of a file by path and by file name; the last of equal ones counts. Also the entries of each folder. */
export interface Gamelist {
  readonly byPath: ReadonlyMap<string, Entry>
  readonly byName: ReadonlyMap<string, Entry>
  readonly byFolder: ReadonlyMap<string, readonly Entry[]>
}

/**
 * Parses the entries of a gamelist.xml at any depth; skips entries without a path in the platform folder. ES-DE's
 * second root element `alternativeEmulator` is accepted with any content.
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
  return { byPath, byName, byFolder: Map.groupBy(byPath.values(), ({ path }) => posix.dirname(path)) }
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

/** Blanks ES-DE's emulator element, whose name may contain an unescaped `&`. Line numbers stay the same. */
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

/** Reads the id from the attributes, where scrapers write it beside the name of the service. */
function readSsId ({ attributes }: XmlElement): number | undefined {
  return /^screenscraper\b/i.test(readText(attributes, 'source') ?? '') ? readId(attributes, 'id') : undefined
}
