import { type Fields, isFields, readFields, readId, readTexts, toFieldsList, withoutEmpty } from '@svc/plugin-sdk'

/** What the service marks a dump as; it writes `1` for each that holds. */
const MARKS = ['beta', 'demo', 'proto', 'trad', 'hack', 'unl', 'alt']

/** The dump that a file was found to be; only what is known of it. */
export interface Dump { dump_regions?: string[], dump_languages?: string[], dump_tags?: string[] }

/** What is told of the very dump that was asked about: an answer to an id or a name names none. */
export function readDump (game: Fields): Dump {
  const id = readId(game, 'romid')
  const rom = readFields(game, 'rom') ?? toFieldsList(game.roms).find((one) => id !== undefined && readId(one, 'id') === id)
  if (!isFields(rom)) return {}
  const tags = {
    dump_regions: readTexts(readFields(rom, 'regions') ?? {}, 'regions_en'),
    dump_languages: readTexts(readFields(rom, 'langues') ?? {}, 'langues_en'),
    dump_tags: MARKS.filter((mark) => String(rom[mark]) === '1')
  }
  return withoutEmpty(tags)
}
