import { type Feed, readFiles, readRoms } from '../pages.ts'
import { join } from '../text.ts'
import { titleIdIn } from '../titles/title.ts'
import type { Titles } from '../titles/titles.ts'

const INSTALLABLE = /\.(?:xci|nsp|nsz|xcz|nro)$/i

export const UNKNOWN_PLATFORM = { files: [], directories: [], error: 'Nintendo Switch platform not found' }

async function * toFiles (feed: Feed): AsyncGenerator<string[]> {
  for await (const roms of readRoms(feed, feed.platforms)) {
    for await (const files of readFiles(feed.db, roms, { all: true })) {
      yield files.filter((file) => INSTALLABLE.test(file.file_name))
        .map((file) => JSON.stringify({ url: feed.links.file(file), size: file.file_size_bytes }))
    }
  }
}

/** Yields each title once, even if several ROMs have it. */
async function * toTitles (feed: Feed, titles: Titles): AsyncGenerator<string[]> {
  const listedIds = new Set<string>()
  for await (const roms of readRoms(feed, feed.platforms)) {
    const found = await titles.find([...new Set(roms.flatMap((rom) => titleIdIn(rom.fs_name) ?? []))])
    const unlisted = [...found].filter(([id]) => !listedIds.has(id))
    for (const [id] of unlisted) listedIds.add(id)
    yield unlisted.map(([id, title]) => `"${id}":${JSON.stringify(title)}`)
  }
}

/** Writes the feed for Tinfoil: https://blawar.github.io/tinfoil/custom_index/ */
export async function * writeTinfoil (feed: Feed, titles: Titles, welcome: string): AsyncGenerator<string> {
  yield '{"files":['
  yield * join(toFiles(feed), ',')
  yield `],"directories":[],"success":${JSON.stringify(welcome)},"titledb":{`
  yield * join(toTitles(feed, titles), ',')
  yield '}}'
}
