import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { type XmlElement, readXmlRecords, xmlChildren, xmlText } from '@svc/plugin-sdk/xml'

/** One game of a gamelist.xml. */
export interface Entry {
  /** The path below the system's folder. */
  readonly path: string
  /** The trimmed text of the elements; empty ones are absent. */
  readonly text: ReadonlyMap<string, string>
  /** The id at ScreenScraper, for an entry scraped there. */
  readonly screenScraperId: string | null
}

/** An entry without a path to a file in the system's folder. */
export interface Refused { readonly path: string, readonly name: string }

const ABSOLUTE = /^(?:\/|~\/|[a-z]:\/)/i
const SCREEN_SCRAPER = /^screenscraper\b/i
/** Characters within which ES-DE's second root element lies, if there is one. */
const HEAD_CHARACTERS = 64 * 1024

/**
 * Yields the games of a gamelist.xml. Elements of folders are skipped, because a folder is described by its game.
 *
 * @throws XmlError for text that is not well-formed, has a DOCTYPE or is over a limit.
 */
export async function * readEntries (file: Readable, source: string): AsyncGenerator<Entry | Refused> {
  for await (const element of readXmlRecords(cleanHead(file), { source })) {
    if (element.name === 'game') yield toEntry(element)
  }
}

/** Removes ES-DE's element `alternativeEmulator`, whose text may contain an unescaped `&`. */
async function * cleanHead (file: Readable): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let head: string | null = ''
  for await (const chunk of file as AsyncIterable<Buffer>) {
    const text = decoder.decode(chunk, { stream: true })
    if (head === null) yield text
    else head += text
    if (head === null || head.length < HEAD_CHARACTERS) continue
    yield removeEmulator(head)
    head = null
  }
  if (head !== null) yield removeEmulator(head)
  yield decoder.decode()
}

function removeEmulator (head: string): string {
  return head.replace(/<alternativeEmulator\b[\s\S]*?<\/alternativeEmulator>/, (element) => element.replace(/[^\n]/g, ''))
}

function toEntry (element: XmlElement): Entry | Refused {
  const text = new Map<string, string>()
  for (const child of xmlChildren(element)) {
    const value = xmlText(child)
    if (value !== '' && !text.has(child.name)) text.set(child.name, value)
  }
  const given = text.get('path') ?? ''
  const path = normalizePath(given)
  if (path === null) return { path: given, name: text.get('name') ?? '' }
  const { source = '', id = '' } = element.attributes
  return { path, text, screenScraperId: SCREEN_SCRAPER.test(source) && /^[1-9]\d{0,15}$/.test(id) ? id : null }
}

/**
 * Normalizes a path of a gamelist, whose backslashes come from Windows. An absolute path, which the original
 * EmulationStation writes, becomes its file name. Null for a path that leaves the folder or names no file.
 */
export function normalizePath (given: string): string | null {
  const path = given.replaceAll('\\', '/')
  if (path.includes('\0')) return null
  const relative = ABSOLUTE.test(path) ? posix.basename(path) : posix.normalize(path).replace(/\/+$/, '')
  return relative === '' || relative === '.' || relative === '..' || relative.startsWith('../') ? null : relative
}
