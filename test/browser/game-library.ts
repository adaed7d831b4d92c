import type { Match } from '@svc/plugin-sdk'
import sharp from 'sharp'
import type { Test } from 'tap'
import { startServer } from '../core/http/server.ts'
import { createForm } from '../plugins/assets/support.ts'
import { vault } from '../plugins/fixtures/vault.ts'
import { buildScanTest } from '../plugins/scans/support.ts'

/** Draws a picture made for tests: a landscape under a title. */
export async function drawPicture (title: string, hue: number, [width, height] = [600, 800]): Promise<Buffer> {
  const hills = [0.55, 0.68, 0.82].map((level, index) =>
    `<path d="M0 ${height * level} Q${width * 0.3} ${height * (level - 0.14)} ${width * 0.55} ${height * level} T${width} ${height * (level - 0.04)} V${height} H0 Z"
      fill="hsl(${hue + 25 * index} 45% ${46 - 13 * index}%)"/>`).join('')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="hsl(${hue} 60% 30%)"/>
    <stop offset="1" stop-color="hsl(${hue + 40} 75% 72%)"/></linearGradient></defs>
    <rect width="100%" height="100%" fill="url(#sky)"/><circle cx="${width * 0.7}" cy="${height * 0.3}" r="${width * 0.12}" fill="hsl(${hue + 50} 90% 88%)"/>
    ${hills}<text x="50%" y="17%" text-anchor="middle" font-family="sans-serif" font-weight="bold" font-size="${width / 11}" fill="white">${title}</text></svg>`
  return await sharp(Buffer.from(svg)).png().toBuffer()
}

export const MARKUP_NAME = 'Tag <b>bold<b> & "quotes" <img src=x onerror=alert(1)>'
const SUMMARY = 'A clockmaker sails from island to island to set every clock to the same hour. Each harbour keeps its own time, ' +
  'so the tide, the people and the doors change with the hands of the clock.\n\nThe game has no battles. Its puzzles need patience and a notebook.'

/** Starts a server with a provider whose pictures are made, and the games of a library with poor and rich cases. */
export async function buildGameLibrary (t: Test) {
  const pictures = new Map<string, Promise<Buffer>>()
  const server = await startServer(t, (request, response) => {
    const [, kind = '', name = ''] = (request.url ?? '').split('/')
    const key = `${kind} ${name}`
    const picture = pictures.get(key) ?? drawPicture(kind === 'cover' ? decodeURIComponent(name).replace(/\.png$/, '') : '', name.length * 37 % 360, kind === 'cover' ? [600, 800] : [800, 600])
    pictures.set(key, picture)
    void picture.then((content) => { response.writeHead(200, { 'content-type': 'image/png' }).end(content) })
  })
  const test = await buildScanTest(t, { providers: ['shelf', 'vault', 'sleeves'], config: { plugins: { vault: { base_url: server.url } } } })
  const { app, admin, put, scan, rom, sql } = test
  const mediaOf = (name: string): Match['media'] => [
    { kind: 'cover', url: `${server.url}/cover/${encodeURIComponent(name)}.png` },
    ...['one', 'three', 'sunset', 'harbours'].map((shot) => ({ kind: 'screenshot' as const, url: `${server.url}/shot/${shot}.png` }))
  ]
  const gameOf = (id: number, name: string): Match<Record<string, unknown>, number> => ({
    id, name, slug: `game-${id}`, summary: SUMMARY, genres: ['Adventure', 'Puzzle'], companies: ['Lantern Works'], game_modes: ['Single player'],
    franchises: ['Chrono'], first_release_date: Date.UTC(1994, 0, 1), average_rating: 86, media: mediaOf(name), score: 0.97
  })
  vault.getById = (id) => gameOf(id, id === 41 ? 'Chrono Harbor' : `Harbor Tales ${id}`)
  vault.search = () => [gameOf(42, 'Harbor Tales'), { ...gameOf(43, 'Harbor Tales II: The Long Way Home'), first_release_date: Date.UTC(1996, 0, 2) }]
  vault.covers = (term) => [{ name: term, covers: ['Blue', 'Golden', 'Night'].map((style) => ({ url: `${server.url}/cover/${style}.png`, thumb: `${server.url}/cover/${style}.png` })) }]
  vault.identify = () => gameOf(41, 'Chrono Harbor')
  await put({ 'roms/gb/Chrono Harbor (Europe) (En,Fr,De) (Rev 1).gb': 'harbor', 'roms/gb/Chrono Harbor (Japan).gb': 'minato' })
  await scan({ platform_fs_slugs: ['gb'] })
  vault.identify = () => undefined
  await put({
    'roms/nes/Harbor Tales.nes': 'tales',
    [`roms/nes/${MARKUP_NAME}.nes`]: 'markup',
    'roms/nes/A name that is far too long for any cover or heading because somebody put its whole story into the name of the file (Europe) (Beta).nes': 'long',
    ...Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`roms/psx/Many Discs/disc ${String(index + 1).padStart(2, '0')}.bin`, `disc ${index}`])),
    'roms/psx/Many Discs/dlc/islands.bin': 'dlc',
    'roms/psx/Many Discs/patch/translation.ips': 'PATCHEOF'
  })
  await scan({ platform_fs_slugs: ['nes', 'psx'] })

  /** Stores a save with a picture. @returns its id */
  async function addSave (romId: number, fileName: string, content: string, query = '', hue = 20): Promise<number> {
    const form = createForm([
      { name: 'saveFile', fileName, content }, { name: 'screenshotFile', fileName: 'shot.png', content: await drawPicture('', hue, [320, 240]) }
    ])
    const answer = await app.inject({
      method: 'POST', url: `/api/saves?rom_id=${romId}${query}`, headers: { ...admin, ...form.headers }, payload: form.payload
    })
    if (answer.statusCode !== 200) throw new Error(`The save was refused: ${answer.body}`)
    return answer.json<{ id: number }>().id
  }

  return {
    ...test,
    addSave,
    drawPicture,
    harbor: (await rom('gb', 'Chrono Harbor (Europe) (En,Fr,De) (Rev 1).gb')).id,
    tales: (await rom('nes', 'Harbor Tales.nes')).id,
    many: (await rom('psx', 'Many Discs')).id,
    idOf: async (start: string) => (await sql<{ id: number }>('select id from roms where starts_with(fs_name, $1)', [start]))[0]?.id ?? 0
  }
}
export type GameLibrary = Awaited<ReturnType<typeof buildGameLibrary>>
