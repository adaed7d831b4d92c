/** A file or folder in a response to PROPFIND. */
export interface Resource {
  /** The address: percent-encoded, with a slash at the end for a folder. */
  href: string
  name: string
  /** Null for a folder. */
  file: { size: number, type: string, etag: string | null } | null
  /** Milliseconds since 1970; null if it is not known. */
  modified_at: number | null
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
/** Characters that XML 1.0 does not allow, even escaped. */
const NOT_IN_XML = /[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu

/** Returns text for an XML element; characters that XML cannot contain become U+FFFD. */
export const escapeXml = (text: string): string =>
  text.toWellFormed().replaceAll(NOT_IN_XML, '\uFFFD').replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/**
 * Encodes all but the unreserved characters of RFC 3986. cadaver and davfs2 encode addresses so and compare them as
 * text.
 */
const encode = (part: string): string => encodeURIComponent(part.toWellFormed())
  .replaceAll(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

/** Returns the address of a path, percent-encoded by parts. */
export const toHref = (prefix: string, parts: readonly string[], isFolder: boolean): string =>
  `${[prefix, ...parts.map(encode)].join('/')}${isFolder ? '/' : ''}`

function renderFile ({ size, type, etag }: NonNullable<Resource['file']>): string {
  const tag = etag === null ? '' : `<D:getetag>${escapeXml(etag)}</D:getetag>`
  return `<D:resourcetype/><D:getcontentlength>${size}</D:getcontentlength><D:getcontenttype>${escapeXml(type)}</D:getcontenttype>${tag}`
}

function renderResource ({ href, name, file, modified_at: modified }: Resource): string {
  const time = modified === null ? '' : `<D:getlastmodified>${new Date(modified).toUTCString()}</D:getlastmodified>`
  const kind = file === null ? '<D:resourcetype><D:collection/></D:resourcetype>' : renderFile(file)
  return `<D:response><D:href>${escapeXml(href)}</D:href><D:propstat><D:prop><D:displayname>${escapeXml(name)}</D:displayname>${kind}${time}` +
    '</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n'
}

/** Renders a response of RFC 4918, section 13, while its resources arrive. */
export async function * renderMultistatus (resources: AsyncIterable<Resource>): AsyncGenerator<string> {
  yield '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n'
  for await (const resource of resources) yield renderResource(resource)
  yield '</D:multistatus>\n'
}

/** Yields resources that are all known already, as those that are read page by page. */
export async function * yieldAll<T> (items: readonly T[]): AsyncGenerator<T> {
  yield * items
}
