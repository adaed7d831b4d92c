import { type Feed, readRoms } from '../pages.ts'
import type { RomRow } from '../rows.ts'
import { join } from '../text.ts'

/** Platforms whose webЯcade application has the name of their slug. */
const SAME = ['3do', 'arcade', 'colecovision', 'dos', 'gb', 'gba', 'gbc', 'genesis', 'n64', 'nes', 'psx', 'segacd', 'sg1000',
  'sms', 'snes', 'wonderswan', 'wonderswan-color']

/** webЯcade applications by the slug of the platform: https://docs.webrcade.com/feeds/format/ */
const APPLICATIONS: ReadonlyMap<string, string> = new Map([
  ...SAME.map((slug) => [slug, slug] as const),
  ['atari2600', '2600'],
  ['atari5200', '5200'],
  ['atari7800', '7800'],
  ['c64', 'commodore-c64'],
  ['gamegear', 'gg'],
  ['lynx', 'lnx'],
  ['neo-geo-cd', 'neogeocd'],
  ['neo-geo-pocket', 'ngp'],
  ['neo-geo-pocket-color', 'ngc'],
  ['neogeoaes', 'neogeo'],
  ['neogeomvs', 'neogeo'],
  ['pc-fx', 'pcfx'],
  ['supergrafx', 'sgx'],
  ['tg16', 'pce'],
  ['turbografx-cd', 'pce'],
  ['virtualboy', 'vb']
])

const TITLE = 'svc'
const DESCRIPTION = 'The games of this server'

function toItem (rom: RomRow, type: string, { links }: Feed): string {
  const { path_cover_small: small, path_cover_large: large } = rom
  return JSON.stringify({
    title: rom.name ?? rom.fs_name_no_tags,
    description: rom.summary ?? '',
    type,
    ...(small === null ? {} : { thumbnail: links.picture(small) }),
    ...(large === null ? {} : { background: links.picture(large) }),
    props: { rom: links.rom(rom) }
  })
}

async function * toItems (feed: Feed, platform: Feed['platforms'][number], type: string): AsyncGenerator<string[]> {
  for await (const roms of readRoms(feed, [platform])) yield roms.map((rom) => toItem(rom, type, feed))
}

/** Writes a category for each platform that webЯcade plays, even if the platform has no games. */
export async function * writeWebrcade (feed: Feed): AsyncGenerator<string> {
  yield `{"title":"${TITLE}","longTitle":"${TITLE}","description":"${DESCRIPTION}","categories":[`
  let separator = ''
  for (const platform of feed.platforms) {
    const type = APPLICATIONS.get(platform.slug)
    if (type === undefined) continue
    const { name } = platform
    yield `${separator}{"title":${JSON.stringify(name)},"longTitle":${JSON.stringify(`${name} Games`)},"items":[`
    yield * join(toItems(feed, platform, type), ',')
    yield ']}'
    separator = ','
  }
  yield ']}'
}
