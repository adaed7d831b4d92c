import { type Fields, readFields, readId, readTexts, toFieldsList, withoutEmpty } from '@svc/plugin-sdk/readers'

/** The service's marks of a dump; it writes `1` for each mark that applies. */
const MARKS = ['beta', 'demo', 'proto', 'trad', 'hack', 'unl', 'alt']

/** The identified dump of a file; unknown fields are absent. */
export interface Dump { dump_regions?: string[], dump_languages?: string[], dump_tags?: string[] }

/** Reads the facts about the dump in question. A response to an id or a name names no dump. */
export function readDump (game: Fields): Dump {
  const id = readId(game, 'romid')
  const rom = readFields(game, 'rom') ?? toFieldsList(game.roms).find((one) => id !== undefined && readId(one, 'id') === id)
  if (rom === undefined) return {}
  const tags = {
    dump_regions: readTexts(readFields(rom, 'regions') ?? {}, 'regions_en'),
    dump_languages: readTexts(readFields(rom, 'langues') ?? {}, 'langues_en'),
    dump_tags: MARKS.filter((mark) => String(rom[mark]) === '1')
  }
  return withoutEmpty(tags)
}
