import { type IndexEntry, ServiceDownError, type ZipMember } from '@svc/plugin-sdk'
import { type XmlElement, XmlError, readXmlRecords } from '@svc/plugin-sdk/xml'
import type { LaunchBoxContext } from './config.ts'
import { foldTitle } from './names.ts'
import { type Texts, readRecord, toGameFields } from './records.ts'

const DUMP_URL = 'https://gamesdb.launchbox-app.com/Metadata.zip'
export const DUMP_TIMEOUT_MS = 30 * 60_000
const MEMBERS = ['Metadata.xml', 'Mame.xml', 'Files.xml']
/** Limit for one member, far above the current 500 MB. */
const MEMBER_MAX_BYTES = 8 * 1024 ** 3
/** A game id; other values are ignored. */
const ID = /^[1-9]\d{0,14}$/

/**
 * The keys of the index: `game:` and `images:` by id; `name:`, `fold:` and `file:` by a name and the platform; `alt:`
 * and `mame:` by a name alone.
 */
export const keyOf = {
  game: (id: string | number) => `game:${id}`,
  images: (id: string | number) => `images:${id}`,
  name: (title: string, platform: string) => `name:${title}:${platform}`,
  fold: (title: string, platform: string) => `fold:${foldTitle(title)}:${platform}`,
  file: (name: string, platform: string) => `file:${name}:${platform}`,
  alternate: (title: string) => `alt:${title}`,
  mame: (name: string) => `mame:${name}`
}

/**
 * Yields the entries of the index from the public dump; none while the dump is off.
 *
 * @throws ServiceDownError when the dump cannot be read or holds no game; the former index then stays
 */
export async function * buildIndex (ctx: LaunchBoxContext): AsyncGenerator<readonly IndexEntry[]> {
  if (!ctx.config.remote) {
    ctx.log.info({}, 'the LaunchBox dump is not used; LAUNCHBOX_API_ENABLED=true downloads it')
    return
  }
  let hasGames = false
  for await (const member of ctx.http.unzip(DUMP_URL, MEMBERS, { timeoutMs: DUMP_TIMEOUT_MS })) {
    for await (const entries of readMember(member, ctx)) {
      hasGames ||= entries[0]?.[0].startsWith('game:') === true
      yield entries
    }
  }
  if (!hasGames) throw new ServiceDownError('The LaunchBox dump contains no game; try again later')
}

async function * readMember ({ name, size, chunks }: ZipMember, ctx: LaunchBoxContext) {
  async function * countBytes () {
    let done = 0
    for await (const chunk of chunks) {
      yield chunk
      ctx.report({ done: done += chunk.length, total: size, message: name })
    }
  }
  try {
    yield * toEntries(readXmlRecords(countBytes(), { source: name, maxBytes: MEMBER_MAX_BYTES }))
  } catch (err) {
    if (!(err instanceof XmlError)) throw err
    throw new ServiceDownError(`${name} of the LaunchBox dump cannot be read: ${err.message}`, { cause: err })
  }
}

/** Groups the consecutive images of one game into one entry. */
async function * toEntries (records: AsyncIterable<XmlElement>): AsyncGenerator<readonly IndexEntry[]> {
  let id: string | undefined
  let images: Array<readonly [file: string, type: string, region: string | null]> = []
  for await (const record of records) {
    const texts = readRecord(record)
    const owner = record.name === 'GameImage' ? readId(texts) : undefined
    if (owner !== id) {
      if (id !== undefined) yield [[keyOf.images(id), images]]
      id = owner
      images = []
    }
    if (owner === undefined) yield READERS.get(record.name)?.(texts) ?? []
    else images.push([texts.FileName ?? '', texts.Type ?? '', texts.Region ?? null])
  }
  if (id !== undefined) yield [[keyOf.images(id), images]]
}

/** Readers of entries by kind of record; a record without its lookup value has no entries. */
const READERS: ReadonlyMap<string, (texts: Texts) => IndexEntry[]> = new Map([
  ['Game', readGame],
  ['GameAlternateName', (texts: Texts) => entryOf(texts.AlternateName, keyOf.alternate, readId(texts))],
  ['MameFile', (texts: Texts) => entryOf(texts.FileName, keyOf.mame, texts.Name)],
  ['File', ({ FileName: file, Platform: platform = '', GameName: name }: Texts) =>
    entryOf(file, (key) => keyOf.file(key, platform), name)]
])

function readGame (texts: Texts): IndexEntry[] {
  const { Name: name, Platform: platform } = texts
  const id = readId(texts)
  if (id === undefined || name === undefined || platform === undefined) return []
  return [
    [keyOf.game(id), toGameFields(texts)],
    ...entryOf(name, (key) => keyOf.name(key, platform), id),
    ...foldTitle(name) === '' ? [] : entryOf(name, (key) => keyOf.fold(key, platform), id)
  ]
}

function entryOf (name: string | undefined, toKey: (key: string) => string, value: string | undefined): IndexEntry[] {
  return name === undefined || value === undefined ? [] : [[toKey(name.toLowerCase()), value]]
}

function readId ({ DatabaseID: id }: Texts): string | undefined {
  return id !== undefined && ID.test(id) ? id : undefined
}
