import { type Feed, readRoms } from '../pages.ts'
import { joinLines, toTabLine } from '../text.ts'

const FORMAT_VERSION = '1'
const AUTHOR = 'svc'

async function * toLines (feed: Feed): AsyncGenerator<string[]> {
  const { links, platforms } = feed
  for (const platform of platforms) {
    for await (const roms of readRoms(feed, [platform])) {
      yield roms.map((rom) => toTabLine([
        rom.name ?? rom.fs_name_no_tags, platform.slug, rom.region ?? 'ANY', rom.revision ?? '1.0.0', AUTHOR, links.rom(rom),
        rom.download_name, rom.fs_size_bytes, rom.path_cover_small === null ? '' : links.picture(rom.path_cover_small)
      ]))
    }
  }
}

/**
 * Writes the feed for Kekatsu. The program saves a download under the name in the feed, and unpacks it only if the name
 * ends in `.zip`. Its second line is the column separator:
 * https://github.com/cavv-dev/Kekatsu-DS#databases
 */
export const writeKekatsu = (feed: Feed): AsyncGenerator<string> => joinLines([FORMAT_VERSION, '\t'], toLines(feed))
