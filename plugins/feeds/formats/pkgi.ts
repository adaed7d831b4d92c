import { type Package, contentIdOf, readPackages, titleOf } from '../packages.ts'
import type { Feed } from '../pages.ts'
import { joinLines, toCsvLine } from '../text.ts'

/** PKGi's numbers of content types on the PS3 and the PSP. The PS Vita has none. */
export const PKGI_TYPES: Readonly<Record<string, number>> = { game: 1, dlc: 2, demo: 5, update: 6, patch: 6 }

async function * toLines (feed: Feed, contentType: string, hasTypes: boolean): AsyncGenerator<string[]> {
  const columnsOf = ({ file, license }: Package) => hasTypes
    ? [PKGI_TYPES[contentType] ?? 0, titleOf(file), '', license?.sha1_hash ?? '']
    : [0, titleOf(file), '', '']
  for await (const packages of readPackages(feed, contentType, hasTypes)) {
    yield packages.map((one) => toCsvLine([contentIdOf(one.file), ...columnsOf(one), feed.links.file(one.file),
      one.file.file_size_bytes, one.file.sha1_hash]))
  }
}

/**
 * Writes the feed for PKGi: https://github.com/bucanero/pkgi-ps3#user-defined-db-format
 *
 * @param hasTypes true if the console's lines contain the content type and the license
 */
export const writePkgi = (feed: Feed, contentType: string, hasTypes: boolean): AsyncGenerator<string> =>
  joinLines([], toLines(feed, contentType, hasTypes))
