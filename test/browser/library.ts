import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { listPluginPackages } from '../../core/loader/packages/packages.ts'

/** A game that exists only here. */
export interface MadeGame {
  platform: string
  file: string
  name: string
  year: number
  summary: string
  genre: string
  studio: string
}

const PLATFORMS: readonly (readonly [folder: string, extension: string])[] =
  [['snes', 'sfc'], ['gba', 'gba'], ['genesis', 'md'], ['nes', 'nes'], ['n64', 'z64'], ['gb', 'gb']]
const FIRST = ['Amber', 'Clockwork', 'Ember', 'Glass', 'Hollow', 'Ivory', 'Lantern', 'Midnight', 'Moss', 'Paper', 'Salt', 'Silver', 'Tidal',
  'Velvet', 'Winter', 'Quiet', 'Copper', 'Northern']
const SECOND = ['Harbor', 'Orchard', 'Comet', 'Citadel', 'Garden', 'Voyage', 'Signal', 'Kingdom', 'Express', 'Isles', 'Archive', 'Fables']
const GENRES = ['Adventure', 'Platform', 'Puzzle', 'Racing', 'Role-playing', 'Strategy']
const STUDIOS = ['Lantern Works', 'Blue Kite', 'Foxglove Studio', 'Harbor & Sons']
const SUMMARIES = [
  'A mail carrier crosses a flooded valley by boat. Every letter opens a door, and every door has somebody behind it with a story.',
  'Build a railway through six seasons. The trains follow your timetable, the weather does not.',
  'A small robot wakes up in a greenhouse and looks for the gardener. Water, light and patience solve its puzzles.'
]

/** Returns a number that looks random, but depends only on its arguments. */
const chance = (index: number, salt: number): number =>
  (Math.imul(index + 1, 2_654_435_761) ^ Math.imul(salt + 7, 40_503)) >>> 8 & 0xffff
const among = <Value>(values: readonly Value[], index: number, salt: number): Value => {
  const value = values[chance(index, salt) % values.length]
  if (value === undefined) throw new RangeError('There is nothing to choose from')
  return value
}

/** Invents games: the same ones at each call. */
export function inventGames (count: number): MadeGame[] {
  return Array.from({ length: count }, (_, index) => {
    const [platform, extension] = among(PLATFORMS, index % 7 + Math.trunc(index / 11), 1)
    const number = Math.trunc(index / (FIRST.length * SECOND.length))
    const name = `${FIRST[index % FIRST.length]} ${SECOND[(index * 5 + Math.trunc(index / FIRST.length)) % SECOND.length]}${number === 0 ? '' : ` ${number + 1}`}`
    return {
      platform, file: `${name} (Europe).${extension}`, name, year: 1986 + chance(index, 2) % 20,
      summary: among(SUMMARIES, index, 3), genre: among(GENRES, index, 4), studio: among(STUDIOS, index, 5)
    }
  })
}

const WIDTH = 450
const HEIGHT = 600

/** Draws the scenes of covers: each is a few shapes on a sky. */
const SCENES: readonly ((hue: number, index: number) => string)[] = [
  (hue) => [0.58, 0.7, 0.84].map((level, step) => `<path fill="hsl(${hue + 18 * step} 42% ${44 - 12 * step}%)"
    d="M0 ${HEIGHT * level} L${WIDTH * (0.18 + 0.1 * step)} ${HEIGHT * (level - 0.16)} L${WIDTH * 0.5} ${HEIGHT * level} L${WIDTH * (0.74 - 0.08 * step)} ${HEIGHT * (level - 0.2)} L${WIDTH} ${HEIGHT * level} V${HEIGHT} H0Z"/>`).join(''),
  (hue) => `<circle cx="225" cy="330" r="118" fill="hsl(${hue + 40} 70% 62%)"/><path d="M225 212a118 118 0 0 1 0 236a150 150 0 0 0 0-236" fill="hsl(${hue + 30} 55% 40%)"/>
    <ellipse cx="225" cy="330" rx="200" ry="38" fill="none" stroke="hsl(${hue + 60} 85% 80%)" stroke-width="10" transform="rotate(-18 225 330)"/>`,
  (hue, index) => Array.from({ length: 9 }, (_, tower) => {
    const height = 120 + chance(index + tower, 6) % 230
    return `<rect x="${tower * 50}" y="${HEIGHT - height}" width="46" height="${height}" fill="hsl(${hue + tower * 6} 35% ${18 + tower % 3 * 7}%)"/>
      <rect x="${tower * 50 + 12}" y="${HEIGHT - height + 24}" width="8" height="12" fill="hsl(45 95% 72%)"/>
      <rect x="${tower * 50 + 28}" y="${HEIGHT - height + 60}" width="8" height="12" fill="hsl(45 95% 72%)"/>`
  }).join(''),
  (hue) => [0, 1, 2, 3, 4].map((wave) => `<path fill="hsl(${hue + wave * 10} 55% ${58 - wave * 10}%)"
    d="M-20 ${330 + wave * 56} q60 -46 120 0 t120 0 t120 0 t120 0 V${HEIGHT} H-20Z"/>`).join(''),
  (hue) => `<g transform="translate(225 350)">${[0, 60, 120, 180, 240, 300].map((angle) =>
    `<ellipse cx="0" cy="-92" rx="44" ry="96" fill="hsl(${hue + angle / 6} 70% 64% / 82%)" transform="rotate(${angle})"/>`).join('')}<circle r="42" fill="hsl(48 92% 66%)"/></g>`
]

/** Draws the cover of a game. */
export async function drawCover (name: string, index: number): Promise<Buffer> {
  const hue = chance(index, 8) % 360
  const words = name.split(' ').map((word, line) =>
    `<text x="32" y="${92 + line * 58}" font-size="${word.length > 9 ? 46 : 54}">${word.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`)
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}"><defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0.3" y2="1"><stop offset="0" stop-color="hsl(${hue} 62% 26%)"/>
    <stop offset="1" stop-color="hsl(${hue + 55} 72% 66%)"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#sky)"/><circle cx="345" cy="240" r="52" fill="hsl(${hue + 70} 90% 86%)"/>
    ${among(SCENES, index, 9)(hue, index)}
    <g fill="#fff" font-family="sans-serif" font-weight="bold">${words.join('')}</g></svg>`
  return await sharp(Buffer.from(svg)).png().toBuffer()
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const entryOf = ({ file, name, year, summary, genre, studio }: MadeGame, hasCover: boolean) => `<game><path>./${escape(file)}</path>
  <name>${escape(name)}</name><desc>${escape(summary)}</desc><genre>${genre}</genre><developer>${escape(studio)}</developer>
  <releasedate>${year}0615T000000</releasedate><rating>0.${60 + year % 39}</rating>
  ${hasCover ? `<image>./images/${escape(file)}.png</image>` : ''}</game>`

/**
 * Writes a library as people have it: folders of platforms with ROMs, lists of games and covers. Every ninth game has
 * no cover.
 */
export async function makeLibrary (folder: string, count: number): Promise<MadeGame[]> {
  const games = inventGames(count)
  for (const [platform, own] of Map.groupBy(games, (game) => game.platform)) {
    const home = join(folder, 'roms', platform)
    await mkdir(join(home, 'images'), { recursive: true })
    for (const game of own) {
      const index = games.indexOf(game)
      await writeFile(join(home, game.file), `${game.name} ${index}`)
      if (index % 9 !== 8) await writeFile(join(home, 'images', `${game.file}.png`), await drawCover(game.name, index))
    }
    const entries = own.map((game) => entryOf(game, games.indexOf(game) % 9 !== 8))
    await writeFile(join(home, 'gamelist.xml'), `<?xml version="1.0"?>\n<gameList>\n${entries.join('\n')}\n</gameList>\n`)
  }
  return games
}

/** The provider that reads the lists of a made library; it uses no network. */
export const LIST_PROVIDER = listPluginPackages('').filter(({ name }) => name === '@svc/provider-gamelist')
