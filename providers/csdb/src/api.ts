import { ServiceDownError } from '@svc/plugin-sdk'
import { type XmlElement, XmlError, parseXml, xmlChildren } from '@svc/plugin-sdk/xml'
import type { CsdbContext } from './config.ts'
import { textOf } from './text.ts'

const SERVICE_URL = 'https://csdb.dk/webservice/'
/** CSDb has refused requests without a referer, or answered them with nothing. */
const HEADERS = { accept: 'application/xml, text/xml, */*', referer: 'https://csdb.dk/' }
const OPTIONS = { headers: HEADERS, timeoutMs: 25_000, maxBytes: 1_000_000 }
/** The response to an id that does not exist. */
const UNKNOWN = 'huh'
/** An `&` that begins no XML entity. */
const STRAY = /&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/gi
/** Control characters, which some texts from a Commodore contain, and references to them: XML forbids both. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]|&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[\da-f]));/gi

/** Returns a release; its credits are included from a depth of 2 on. */
export async function readRelease (id: number, depth: 1 | 2, { http }: CsdbContext): Promise<XmlElement | undefined> {
  const { bytes } = await http.request(SERVICE_URL, { ...OPTIONS, query: { type: 'release', id, depth } })
  const text = decode(bytes)
  if (text.trim().toLowerCase() === UNKNOWN) return undefined
  const release = readRoot(text).flatMap((root) => xmlChildren(root, 'Release'))[0]
  // An unknown id can return another release: id 0 returns the latest one.
  return release !== undefined && textOf(release, 'ID') === String(id) ? release : undefined
}

function readRoot (text: string): XmlElement[] {
  try {
    const root = parseXml(text.trim().replaceAll(CONTROLS, '').replaceAll(STRAY, '&amp;'), { source: 'the response of CSDb' })
    if (root.length === 1 && root[0]?.name === 'CSDbData') return root
  } catch (err) {
    if (!(err instanceof XmlError)) throw err
    throw new ServiceDownError(`CSDb answered with XML that cannot be read; try again later: ${err.message}`, { cause: err })
  }
  throw new ServiceDownError('CSDb answered without the element CSDbData; try again later')
}

/** CSDb passes on texts from before UTF-8 without conversion. */
function decode (bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}
